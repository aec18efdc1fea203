// Preloaded into a replica of the chaos table: at each SIGUSR2 its wall clock moves by as many milliseconds as the file named
// by ARCHWAY_TEST_CLOCK says. The monotonic clock stays as it is, as on a machine whose time is set.
const file = Deno.env.get("ARCHWAY_TEST_CLOCK") ?? "";
const MachineDate = Date;

/** A replica that is started again finds the time as it was left. */
function readOffsetMs(): number {
  try {
    return Number(Deno.readTextFileSync(file));
  } catch {
    return 0;
  }
}

let offsetMs = readOffsetMs();
const now = (): number => MachineDate.now() + offsetMs;

globalThis.Date = new Proxy(MachineDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  apply: () => new MachineDate(now()).toString(),
  get: (target, key) => key === "now" ? now : Reflect.get(target, key),
});

// The jump is acknowledged by the time that everybody in this process now reads.
Deno.addSignalListener("SIGUSR2", () => {
  offsetMs = readOffsetMs();
  Deno.writeTextFileSync(`${file}.${Deno.pid}`, String(Date.now()));
});
