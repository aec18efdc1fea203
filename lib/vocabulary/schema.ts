// Parts of schemas for objects of the cluster. Nothing missing or malformed throws: each part has a value for that.
import * as z from "zod";
import { isObject, type JsonObject, textMapAt } from "../json.ts";
import type { ObjectMeta } from "./meta.ts";

export const text = z.string().catch("");
export const textMap = z.unknown().transform((map) => textMapAt({ map }, "map") ?? {}).prefault({});
export const minutes = z.number().optional().catch(undefined);
/** The texts of a list; undefined when it is no list. */
export const texts = z.array(z.unknown())
  .transform((names): readonly string[] => names.filter((name) => typeof name === "string"))
  .optional().catch(undefined);

export function section<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return z.preprocess((value) => isObject(value) ? value : {}, schema);
}

export type Known<Shape extends z.ZodRawShape> = Readonly<z.output<z.ZodObject<Shape>>>;

const anyObject = z.unknown().optional().transform((value): JsonObject => isObject(value) ? value : {});
/** An object of the API server. Its spec and status are empty where they are none. */
export const kubeObject = z.object({ metadata: z.custom<ObjectMeta>(), spec: anyObject, status: anyObject });

/**
 * A list of objects, without entries that are none or lack what they must have. Members that the shape does not name
 * are kept.
 */
export function listOf<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<readonly Known<Shape>[]> {
  const Entry: z.ZodType<Known<Shape>> = z.looseObject(shape);
  return z.array(z.unknown()).catch([])
    .transform((entries) => entries.flatMap((entry) => Entry.safeParse(entry).data ?? []));
}
