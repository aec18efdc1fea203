// Loggers that keep what they are told.
import type { LogFields, Logger, LogLevel } from "../../lib/log.ts";

interface KeptLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

export function keepLog(): Logger & { readonly lines: readonly KeptLine[] } {
  const lines: KeptLine[] = [];
  const keep = (level: LogLevel) => (message: string, fields: LogFields = {}): void => {
    lines.push({ level, message, fields });
  };
  const levels = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  const log = { ...levels, lines, with: () => log };
  return log;
}
