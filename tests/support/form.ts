// Short and long forms of tests whose size is a number: a hundred show most of what many would.
// `deno task test:long` runs the long ones, for what only many show.

/** Name of the environment variable that says `long`. */
export const FORM_VARIABLE = "ARCHWAY_TEST_FORM";

/** The number for this run. */
export function sizeOf({ short, long }: { readonly short: number; readonly long: number }): number {
  return Deno.env.get(FORM_VARIABLE) === "long" ? long : short;
}
