// Credential helpers and plugins as small shell scripts, for the tests of the keyring.
import { type CommandRunner, runCommand } from "../../../../lib/oci/credentials/run_command.ts";

export interface ProgramFolder extends Disposable {
  readonly path: string;
  /** Writes a script that is run by `sh`; `calls` counts its runs. */
  program(name: string, script: string): void;
  file(name: string, text: string): string;
  calls(name: string): readonly string[];
  readonly run: CommandRunner;
}

export function makePrograms(): ProgramFolder {
  const path = Deno.makeTempDirSync();
  const file = (name: string, text: string): string => {
    Deno.writeTextFileSync(`${path}/${name}`, text);
    return `${path}/${name}`;
  };
  return {
    path,
    file,
    program: (name, script) => {
      const record = `input=$(cat); printf '%s|%s\\n' "$*" "$input" >> "${path}/${name}.calls"`;
      Deno.chmodSync(file(name, `#!/bin/sh\n${record}\n${script}\n`), 0o755);
    },
    calls: (name) => {
      try {
        return Deno.readTextFileSync(`${path}/${name}.calls`).trimEnd().split("\n");
      } catch {
        return [];
      }
    },
    run: ({ program, ...more }) =>
      runCommand({ ...more, program: program.includes("/") ? program : `${path}/${program}` }),
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}
