// What makes programs of another architecture run on one node and on no other: a user namespace of the node's own, in which
// binfmt_misc gives them to an interpreter. Programs that this node must refuse are covered by the runtime in front of runc.
import { ensureGoProgram, findOnPath, pinnedCacheDirectory } from "../../support/go_build.ts";
import { runCommand } from "../../support/commands.ts";

const MODULE = new URL("../programs/emulator/", import.meta.url);
export const QEMU = "qemu-aarch64-static";
/** ELF e_machine of aarch64, and of an architecture that no node has. */
export const AARCH64 = 183;
const S390 = 22;

/** An executable file's first 20 bytes: 64 bits, little endian, static or not, of aarch64. */
const MAGIC = ["7f454c460201010000000000000000000200b700", "ffffffffffffff00fffffffffffffffffeffffff"];
/** Owner and capabilities are those of the program, its name stays, and the interpreter need not be in a container's root. */
const FLAGS = "CPF";

export interface Emulation {
  readonly interpreter: string;
  /** An ELF file that the node cannot execute. */
  readonly foreign: string;
}

/** Writes the files of an emulated node. */
export async function writeEmulation(directory: string): Promise<Emulation> {
  const cache = await pinnedCacheDirectory("emulator", [new URL("main.go", MODULE)]);
  const program = { name: "emulator", module: MODULE, package: ".", linkerFlags: "-s -w" };
  const front = await Deno.readFile(await ensureGoProgram(program, cache));
  const qemu = await Deno.readFile(await findOnPath(QEMU) ?? `/usr/bin/${QEMU}`);
  const [interpreter, foreign] = [`${directory}/interpreter`, `${directory}/foreign`];
  const length = new BigUint64Array([BigInt(qemu.length)]);
  await Deno.writeFile(interpreter, new Uint8Array(await new Blob([front, qemu, length]).arrayBuffer()), {
    mode: 0o755,
  });
  const header = Uint8Array.fromHex(MAGIC[0] ?? "");
  header[18] = S390;
  await Deno.writeFile(foreign, header, { mode: 0o755 });
  return { interpreter, foreign };
}

/** Maps the users of a new user namespace to themselves, and has the interpreter run what needs it there. */
export async function openEmulation(holderPid: number, { interpreter }: Emulation): Promise<void> {
  for (const map of ["uid_map", "gid_map"]) await Deno.writeTextFile(`/proc/${holderPid}/${map}`, "0 0 1000000\n");
  const escape = (hex = ""): string => hex.replaceAll(/../g, String.raw`\x$&`);
  const [magic, mask] = MAGIC.map(escape);
  const rule = `:aarch64:M::${magic}:${mask}:${interpreter}:${FLAGS}`;
  const folder = "/proc/sys/fs/binfmt_misc";
  const script = `mount -t binfmt_misc binfmt_misc ${folder} && printf %s "$1" > ${folder}/register`;
  await runCommand("nsenter", ["-t", String(holderPid), "-U", "-m", "--", "sh", "-c", script, "sh", rule]);
}
