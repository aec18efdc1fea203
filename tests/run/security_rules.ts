// Static security analysis of `deno task check`: rules of ESLint's plugins that mean something here, and what they cannot know of Deno
// and Hono. It reads the syntax alone, so that it needs neither the network nor a compilation.
import * as parser from "@typescript-eslint/parser";
import { ESLint, type Linter } from "eslint";
import security from "eslint-plugin-security";
import * as sonarjs from "eslint-plugin-sonarjs";
// The version that the parser and the rules take: no later one has the interface they use.
import "typescript";

const ROOT = new URL("../../", import.meta.url).pathname;
const SOURCES = ["main.ts", "serve", "lib", "routes", "controllers", "playground", "manifests"];

export const RULES = [
  "security/detect-bidi-characters",
  "security/detect-child-process",
  "security/detect-non-literal-fs-filename",
  "sonarjs/code-eval",
  "sonarjs/encryption-secure-mode",
  "sonarjs/hashing",
  "sonarjs/no-clear-text-protocols",
  "sonarjs/no-hardcoded-passwords",
  "sonarjs/no-hardcoded-secrets",
  "sonarjs/no-weak-cipher",
  "sonarjs/no-weak-keys",
  "sonarjs/os-command",
  "sonarjs/pseudo-random",
  "sonarjs/unverified-certificate",
  "sonarjs/unverified-hostname",
  "sonarjs/weak-ssl",
];

/** Selectors of ESLint. */
const SYNTAX = [
  {
    selector:
      "Property[key.name='rejectUnauthorized']:not([value.value=true]), Property[key.value='rejectUnauthorized'], " +
      "AssignmentExpression[left.property.name='rejectUnauthorized'], Property[key.name=/^unsafely/]",
    message: "This takes any certificate.",
  },
  {
    selector:
      ":matches(NewExpression[callee.property.name='Command'], CallExpression[callee.name=/^run(Tool|Command)$/]) > " +
      "Literal.arguments:first-child[value=/(^|\\/)(ba|da|z|k|a)?sh$/]",
    message: "A shell reads what it is given as a program.",
  },
  {
    selector: "CallExpression[callee.name='raw'] > :not(Identifier[name=/^[A-Z_]+$/]).arguments",
    message: "Only constants are HTML as they are.",
  },
  { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "What is shown is escaped." },
];

const CONFIG: Linter.Config = {
  files: ["**/*.ts", "**/*.tsx"],
  languageOptions: { parser },
  plugins: { security, sonarjs },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: {
    ...Object.fromEntries(RULES.map((rule): [string, Linter.RuleEntry] => [rule, "error"])),
    "no-restricted-syntax": ["error", ...SYNTAX],
  },
};

function openAnalysis(): ESLint {
  return new ESLint({ cwd: ROOT, overrideConfigFile: true, overrideConfig: CONFIG });
}

/** The rules that a source breaks, in its order. */
export async function rulesBrokenBy(source: string): Promise<readonly (string | null)[]> {
  const results = await openAnalysis().lintText(source, { filePath: "lib/source.tsx" });
  return results.flatMap(({ messages }) => messages.map(({ ruleId }) => ruleId));
}

if (import.meta.main) {
  const analysis = openAnalysis();
  const results = await analysis.lintFiles(SOURCES);
  const formatter = await analysis.loadFormatter("stylish");
  await Deno.stderr.write(new TextEncoder().encode(await formatter.format(results)));
  if (results.some(({ errorCount }) => errorCount > 0)) Deno.exit(1);
}
