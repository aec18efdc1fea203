// What README and the pages tell users to paste.

/** The shell blocks below a heading of README, one after the other. Throws when there is none. */
export function shellBlocksOf(readme: string, heading: string): string {
  return blocksOf(readme, heading, "sh").join("");
}

/** The kustomization.yaml below the heading Install of a page. Throws when there is none. */
export function kustomizationOf(page: string): string {
  const [first = ""] = blocksOf(page, "Install", "yaml");
  return first;
}

function blocksOf(page: string, heading: string, language: "sh" | "yaml"): readonly string[] {
  const start = page.indexOf(`\n## ${heading}\n`);
  const section = start < 0 ? "" : page.slice(start + 1).split("\n## ")[0] ?? "";
  const found = section.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"));
  const texts = [...found].map(([, text = ""]) => text);
  if (texts.length === 0) throw new Error(`Cannot find a block of ${language} below "${heading}"`);
  return texts;
}

/** The kubectl commands in a paragraph of a page that begins with these words, and in its list, in their order. */
export function commandsOf(page: string, paragraph: string): readonly string[] {
  const start = page.indexOf(`\n${paragraph}`);
  const text = page.slice(start).trimStart().split(/\n\n(?!\d)/)[0] ?? "";
  const commands = [...text.matchAll(/`(kubectl [^`]+)`/g)].map(([, command = ""]) => command.replaceAll("\n", " "));
  if (start < 0 || commands.length === 0) throw new Error(`Cannot find commands in "${paragraph}"`);
  return commands;
}
