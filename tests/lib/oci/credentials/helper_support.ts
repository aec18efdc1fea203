// Credential helpers and plugins as small shell scripts, for the tests of the keyring.
import { type CommandRunner, runCommand } from "../../../../lib/oci/credentials/run_command.ts";
import { makeFolder, type TestFolder } from "../config/planner_support.ts";

export interface ProgramFolder extends TestFolder {
  /** Writes a script that is run by `sh`; `calls` counts its runs. */
  program(name: string, script: string): void;
  calls(name: string): readonly string[];
  readonly run: CommandRunner;
}

export function makePrograms(files: Readonly<Record<string, string>> = {}): ProgramFolder {
  const folder = makeFolder(files);
  const { path, write } = folder;
  return {
    ...folder,
    program: (name, script) => {
      const record = `input=$(cat); printf '%s|%s\\n' "$*" "$input" >> "${path}/${name}.calls"`;
      Deno.chmodSync(write(name, `#!/bin/sh\n${record}\n${script}\n`), 0o755);
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
  };
}
