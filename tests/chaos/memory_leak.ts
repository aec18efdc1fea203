// Preloaded into a replica of the chaos table: from SIGUSR1 on it keeps more and more, until the process meets its memory limit.
const LEAK_EVERY_MS = 10;
const NUMBERS_A_LEAK = 500_000;

Deno.addSignalListener("SIGUSR1", () => {
  const kept: number[][] = [];
  setInterval(() => kept.push(Array.from({ length: NUMBERS_A_LEAK }, (_, number) => number + 0.5)), LEAK_EVERY_MS);
});
