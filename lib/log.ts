// Structured logs through LogTape, one event a line: a JSON object for programs, text for whoever watches a terminal.
import { configureSync, getLogger, getTextFormatter, jsonLinesFormatter, resetSync } from "@logtape/logtape";

/** `error`: an administrator must act; `warn`: degraded; `info`: we changed the cluster; `debug`: why we did not. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Variables of a log line. Values are plain JSON; never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A message is constant and in lower case; what varies is in the fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  with(fields: LogFields): Logger;
}

/** The root logger plus the switch that follows the cluster config's `logVerbosity`. */
export interface RootLogger extends Logger {
  setLevel(level: LogLevel): void;
  close(): void;
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** `json`: what collectors of logs read. `text`: local time, level, message and the fields as `name=value`. */
export type LogFormat = "json" | "text";

interface LoggerOptions {
  readonly level: LogLevel;
  /** Receives whole lines with their newline. */
  readonly write: (line: string) => void;
  readonly format?: LogFormat;
}

export function openLogger({ level, write, format = "json" }: LoggerOptions): RootLogger {
  let threshold = SEVERITY[level];
  const formatter = format === "json" ? jsonLinesFormatter : textFormatter();
  configureSync({
    reset: true,
    sinks: { lines: (record) => write(formatter(record)) },
    loggers: [
      { category: ["archway"], lowestLevel: "debug", sinks: ["lines"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["lines"] },
    ],
  });
  const tape = getLogger(["archway"]);
  const at = (level: LogLevel, fields: LogFields): Logger[LogLevel] => (message, more = {}) => {
    if (SEVERITY[level] < threshold) return;
    tape[level](message, { ...fields, ...more });
  };
  const narrow = (fields: LogFields): Logger => ({
    debug: at("debug", fields),
    info: at("info", fields),
    warn: at("warn", fields),
    error: at("error", fields),
    with: (more) => narrow({ ...fields, ...more }),
  });
  return {
    ...narrow({}),
    setLevel: (level) => {
      threshold = SEVERITY[level];
    },
    close: () => resetSync(),
  };
}

function textFormatter(): ReturnType<typeof getTextFormatter> {
  return getTextFormatter({
    timestamp: "time",
    timeZone: null,
    format: ({ timestamp, level, message, record: { properties } }) =>
      [timestamp, level, message, ...Object.entries(properties).flatMap(fieldOf)].join(" "),
  });
}

function fieldOf([name, value]: readonly [string, unknown]): readonly string[] {
  return value === undefined ? [] : [`${name}=${textOf(value)}`];
}

/** Quoted unless it is one word, so that no value looks like a field or a line of its own. */
function textOf(value: unknown): string {
  return typeof value === "string" && /^[!#-~]+$/.test(value) ? value : JSON.stringify(value) ?? String(value);
}

/** A logger that says nothing: for tests and for commands whose output is their result. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  with: () => silentLogger,
};

/** The messages of a thrown value and of its causes, joined; `fetch failed` alone explains nothing. */
export function errorText(error: unknown): string {
  const words: string[] = [];
  for (let at: unknown = error; at !== undefined && words.length < 4;) {
    const said = at instanceof Error ? at.message : String(at);
    if (!words.some((earlier) => earlier.includes(said))) words.push(said);
    at = at instanceof Error ? at.cause : undefined;
  }
  return words.join(": ");
}
