// Whether a text is a Containerfile that can be built at all: instructions that exist, with what they need.

const INSTRUCTIONS: readonly string[] = [
  "ADD",
  "ARG",
  "CMD",
  "COPY",
  "ENTRYPOINT",
  "ENV",
  "EXPOSE",
  "FROM",
  "HEALTHCHECK",
  "LABEL",
  "MAINTAINER",
  "ONBUILD",
  "RUN",
  "SHELL",
  "STOPSIGNAL",
  "USER",
  "VOLUME",
  "WORKDIR",
];
const PAIRS: readonly string[] = ["ENV", "LABEL"];
const HEREDOC = /<<-?\s*(["']?)([A-Za-z_][A-Za-z0-9_]*)\1/g;

/** The first problem, with its line from 1; undefined for a text that is well, or empty but for comments. */
export function checkContainerfile(text: string): { readonly line: number; readonly message: string } | undefined {
  const instructions = instructionsOf(text);
  if (instructions.length === 0) return undefined;
  for (const { line, words } of instructions) {
    const [name = "", ...rest] = words;
    const keyword = name.toUpperCase();
    if (!INSTRUCTIONS.includes(keyword)) return { line, message: `"${name.slice(0, 40)}" is no instruction` };
    if (rest.length === 0) return { line, message: `${keyword} has no argument` };
    if (PAIRS.includes(keyword) && !rest.some((word) => word.includes("="))) {
      return { line, message: `${keyword} needs key=value` };
    }
  }
  return instructions.some(({ words }) => words[0]?.toUpperCase() === "FROM")
    ? undefined
    : { line: 1, message: "it has no FROM" };
}

interface Instruction {
  readonly line: number;
  readonly words: readonly string[];
}

function instructionsOf(text: string): readonly Instruction[] {
  const lines = text.split("\n");
  const found: Instruction[] = [];
  let at = 0;
  while (at < lines.length) {
    const start = at;
    let joined = "";
    let goesOn = true;
    while (goesOn && at < lines.length) {
      const line = (lines[at] ?? "").trimEnd();
      at++;
      // Comments and empty lines may occur between the lines of one instruction.
      if (/^\s*(?:#|$)/.test(line)) {
        if (joined === "") break;
        continue;
      }
      goesOn = line.endsWith("\\");
      joined += ` ${goesOn ? line.slice(0, -1) : line}`;
    }
    const words = joined.trim().split(/\s+/).filter((word) => word !== "");
    if (words.length > 0) found.push({ line: start + 1, words });
    if (/^(?:RUN|COPY|ADD)$/i.test(words[0] ?? "")) at = afterHeredocs(joined, lines, at);
  }
  return found;
}

/** The line after the here-documents that an instruction opens; the next line where one is not closed. */
function afterHeredocs(instruction: string, lines: readonly string[], from: number): number {
  let at = from;
  for (const [, , word = ""] of instruction.matchAll(HEREDOC)) {
    const end = lines.findIndex((line, index) => index >= at && line.trim() === word);
    if (end < 0) return from;
    at = end + 1;
  }
  return at;
}
