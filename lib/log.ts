// Structured JSON logs, one object a line on stderr, through LogTape.
import { configureSync, getLogger, jsonLinesFormatter, type LogLevel as TapeLevel, resetSync } from "@logtape/logtape";

/** `error`: an administrator must act; `warn`: degraded; `info`: we changed the cluster; `debug`: why we did not. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Variables of a log line. Values are plain JSON; never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A value to log through: constant lower-case message, the variables are fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to each line. */
  with(fields: LogFields): Logger;
}

/** The root logger plus the switch that follows the cluster config's `logVerbosity`. */
export interface RootLogger extends Logger {
  setLevel(level: LogLevel): void;
  close(): void;
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Opens the process's logger. `write` receives whole lines with their newline; errors of the sink are its own. */
export function openLogger(options: { readonly level: LogLevel; readonly write: (line: string) => void }): RootLogger {
  let threshold = SEVERITY[options.level];
  configureSync({
    reset: true,
    sinks: { lines: (record) => options.write(jsonLinesFormatter(record)) },
    loggers: [
      { category: ["archway"], lowestLevel: "debug" satisfies TapeLevel, sinks: ["lines"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["lines"] },
    ],
  });
  const tape = getLogger(["archway"]);
  const at = (level: LogLevel, fields: LogFields): Logger[LogLevel] => (message, more = {}) => {
    if (SEVERITY[level] < threshold) return;
    const properties = { ...fields, ...more };
    if (level === "warn") tape.warn(message, properties);
    else tape[level](message, properties);
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
