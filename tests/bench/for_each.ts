// Many requests to the API server, so many at a time as the benchmark protocol has creators.

/** Source: the benchmark protocol. */
export const CREATORS = 32;

/** Does the work for 0, 1, … `count` - 1, {@link CREATORS} at a time; throws the first fault. */
export async function forEach(count: number, work: (number: number) => Promise<void>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  await Promise.all(Array.from({ length: CREATORS }, async () => {
    for (const number of numbers) await work(number);
  }));
}
