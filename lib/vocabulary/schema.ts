// Parts of schemas for objects of the cluster. Each part has a value for missing or malformed input: it never throws.
import * as z from "zod";
import { isObject, type JsonObject, textMapAt } from "../json.ts";
import type { ObjectMeta } from "./meta.ts";

export const text = z.string().catch("");
export const textMap = z.unknown().transform((map) => textMapAt({ map }, "map") ?? {}).prefault({});
export const minutes = z.number().optional().catch(undefined);
/** The texts of a list; undefined for anything but a list. */
export const texts = z.array(z.unknown())
  .transform((names): readonly string[] => names.filter((name) => typeof name === "string"))
  .optional().catch(undefined);

export function section<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return z.preprocess((value) => isObject(value) ? value : {}, schema);
}

export type Known<Shape extends z.ZodRawShape> = Readonly<z.output<z.ZodObject<Shape>>>;

const anyObject = z.unknown().optional().transform((value): JsonObject => isObject(value) ? value : {});
/** An object of the API server. A spec or status that is missing or no object is read as an empty object. */
export const kubeObject = z.object({ metadata: z.custom<ObjectMeta>(), spec: anyObject, status: anyObject });

/**
 * A list of objects, without entries that are not objects or lack a required member. Members that the shape does not
 * name are kept.
 */
export function listOf<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<readonly Known<Shape>[]> {
  const Entry: z.ZodType<Known<Shape>> = z.looseObject(shape);
  return z.array(z.unknown()).catch([])
    .transform((entries) => entries.flatMap((entry) => Entry.safeParse(entry).data ?? []));
}
