// What bpftrace prints (`-f json`, one object a line), read into failures. A failure comes as several messages of one
// CPU, because a program in the kernel can hold one name at a time; messages of other CPUs may come between them.
//
//   b CPU TIME COMM   f CPU TIME FILE   d|c|p CPU TIME NAME (outwards)   e CPU TIME FIRST     h REPEATS TEXTS
//
// FIRST is 1 for a container's first program, 2 where the path has more folders than were printed.
//
// Names, files and commands are chosen by the user of the program. They are the last field of a message and come
// escaped by bpftrace, so none of them can pass for a message of its own.
import { memberOf, numberAt, parseObject, textAt } from "../../json.ts";

export interface TracedFailure {
  readonly command: string | undefined;
  /** Whether it was the first program of its PID namespace: the container's, unless the parent is in the container. */
  readonly isEntryPoint: boolean;
  /** Names of the parent's cgroups from the root inwards, for a first program only. */
  readonly parentPath: readonly string[];
  readonly paths: readonly (readonly string[])[];
}

export type TraceMessage =
  | { readonly kind: "failure"; readonly failure: TracedFailure }
  /** A failure in folders so deep that the outer ones, and with them the container, are not known. */
  | { readonly kind: "cut off" }
  /** Messages that the kernel or this reader could not keep. */
  | { readonly kind: "lost"; readonly messages: number }
  /** All probes are attached. Counts the repetitions and texts since the last such message. */
  | { readonly kind: "alive"; readonly repeats: number; readonly texts: number };

interface Group {
  comm: string;
  file: string;
  readonly names: Readonly<Record<"c" | "d" | "p", string[]>>;
}

/** Most incomplete failures that are kept. One per CPU suffices, unless messages are lost. */
const MAX_GROUPS = 1_024;
/** Names of runtimes, which a process has until it becomes the container's program. */
const RUNTIME = /^(?:runc|crun)(?::|$)/;
const MESSAGE = /^([bfdcpe]) (\d+ \d+) ([\s\S]*)$/;
const ALIVE = /^h (\d+) (\d+)/;

/** Reads the output of one run of bpftrace. */
export class TraceReader {
  readonly #groups = new Map<string, Group>();
  #repeats = 0;
  #texts = 0;

  read(line: string): TraceMessage | undefined {
    const message = parseObject(line);
    switch (textAt(message, "type")) {
      case "lost_events":
        return this.#lose(numberAt(memberOf(message, "data"), "events") || 1);
      case "printf":
        return this.#take(textAt(message, "data"));
      default:
        return undefined;
    }
  }

  #take(text: string): TraceMessage | undefined {
    const alive = ALIVE.exec(text);
    if (alive !== null) return this.#alive(Number(alive[1]), Number(alive[2]));
    const [, mark = "", key = "", rest = ""] = MESSAGE.exec(text) ?? [];
    if (mark === "b") return this.#begin(key, rest);
    const group = this.#groups.get(key);
    // The first message of this failure was lost, which has been reported already.
    if (group === undefined) return undefined;
    if (mark === "f") group.file = rest;
    if (mark === "c" || mark === "d" || mark === "p") group.names[mark].push(rest);
    if (mark !== "e") return undefined;
    this.#groups.delete(key);
    if (rest === "2") return { kind: "cut off" };
    return { kind: "failure", failure: { ...tracedFailureOf(group), isEntryPoint: rest === "1" } };
  }

  #begin(key: string, comm: string): TraceMessage | undefined {
    this.#groups.set(key, { comm, file: "", names: { c: [], d: [], p: [] } });
    const [oldest] = this.#groups.keys();
    if (oldest === undefined || this.#groups.size <= MAX_GROUPS) return undefined;
    this.#groups.delete(oldest);
    return { kind: "lost", messages: 1 };
  }

  /** Drops incomplete failures, since lost messages may have held their names, even the container's. */
  #lose(events: number): TraceMessage {
    const messages = events + this.#groups.size;
    this.#groups.clear();
    return { kind: "lost", messages };
  }

  #alive(repeats: number, texts: number): TraceMessage {
    const since = { repeats: Math.max(0, repeats - this.#repeats), texts: Math.max(0, texts - this.#texts) };
    [this.#repeats, this.#texts] = [repeats, texts];
    return { kind: "alive", ...since };
  }
}

function tracedFailureOf({ comm, file, names }: Group): Omit<TracedFailure, "isEntryPoint"> {
  const known = file === "" ? comm : file;
  return {
    command: known === "" || RUNTIME.test(known) ? undefined : known,
    parentPath: names.p.toReversed(),
    paths: [names.d, names.c].filter(({ length }) => length > 0).map((outwards) => outwards.toReversed()),
  };
}
