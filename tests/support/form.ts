// Short and long forms of tests whose size is a number: what holds of many holds of a hundred as well, or it shows there.
// `deno task test:long` runs the long ones.

/** Name of the environment variable that says `long`. */
export const FORM_VARIABLE = "ARCHWAY_TEST_FORM";

/** The number for this run. */
export function sizeOf({ short, long }: { readonly short: number; readonly long: number }): number {
  return Deno.env.get(FORM_VARIABLE) === "long" ? long : short;
}
