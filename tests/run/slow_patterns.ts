// A rule of `deno lint`: patterns whose time grows faster than their text, as one on pull secrets once held the event loop for 22 s.
import { RegExpParser } from "@eslint-community/regexpp";
import { analyse } from "scslre";

const PARSER = new RegExpParser();

/** What a text can be made of to keep the pattern busy; undefined where its time grows with the text's length. Throws on no pattern. */
export function slowness(pattern: string, flags: string): string | undefined {
  const sets = { unicode: flags.includes("u"), unicodeSets: flags.includes("v") };
  const parsed = { pattern: PARSER.parsePattern(pattern, 0, pattern.length, sets), flags: PARSER.parseFlags(flags) };
  const [report] = analyse(parsed, { maxReports: 1 }).reports;
  return report && `many of ${report.character.literal.source}`;
}

/** The names and shape are Deno's, which asks for a default export. */
export default {
  name: "archway",
  rules: {
    "slow-pattern": {
      create(context): Deno.lint.LintVisitor {
        return {
          Literal(node): void {
            if (!("regex" in node) || node.regex === undefined || context.filename.includes("/tests/")) return;
            const texts = slowness(node.regex.pattern, node.regex.flags);
            if (texts === undefined) return;
            const message = `A text with ${texts} takes this pattern a time that grows faster than its length.`;
            context.report({ node, message, hint: "Let it begin at one place only, as by ^, the flag y or (?<!x)x+." });
          },
        };
      },
    },
  },
} satisfies Deno.lint.Plugin;
