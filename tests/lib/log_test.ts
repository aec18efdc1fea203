import assert from "node:assert/strict";
import { errorText, type LogFormat, openLogger } from "../../lib/log.ts";

Deno.test("errorText() gives an error with its causes, and nothing twice", () => {
  const cause = new Error("no such file");
  assert.equal(errorText(new Error("Cannot read it", { cause })), "Cannot read it: no such file");
  const whole = "Cannot read it: no such file. Name another.";
  assert.equal(errorText(new Error(whole, { cause })), whole);
  assert.equal(errorText("odd"), "odd");
});

function lineOf(fields: Readonly<Record<string, unknown>>, format?: LogFormat): string {
  const lines: string[] = [];
  const log = openLogger({ level: "info", write: (line) => void lines.push(line), ...format && { format } });
  log.debug("not shown");
  log.with({ controller: "pods" }).warn("pod released", fields);
  log.close();
  return lines.join("");
}

Deno.test("openLogger() writes one line of text for a terminal: time, level, message, and fields that cannot be forged", () => {
  const forged = { error: 'no "x"\nINF pod=other', none: undefined, sign: "\x1b[31m" };
  const fields = { pod: "web", gatedMs: 19, images: ["a", "b"], ...forged };
  assert.match(
    lineOf(fields, "text"),
    /^\d\d:\d\d:\d\d\.\d{3} WRN pod released controller=pods pod=web gatedMs=19 images=\["a","b"\] error="no \\"x\\"\\nINF pod=other" sign="\\u001b\[31m"\n$/,
  );
});

Deno.test("openLogger() writes one JSON object a line unless it is told otherwise", () => {
  const { "@timestamp": _, ...said } = JSON.parse(lineOf({ pod: "web" }));
  const wanted = { level: "WARN", message: "pod released", logger: "archway" };
  assert.deepEqual(said, { ...wanted, properties: { controller: "pods", pod: "web" } });
});
