// A text in lines of whole words, for terminals. Pure.

/**
 * Breaks only words that are longer than a line, such as images and addresses: after a separator, if they have one.
 */
export function foldWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (word.length > width) lines.push(...breakWord(word, Math.max(1, width)));
    else if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function breakWord(word: string, width: number): readonly string[] {
  return word.match(new RegExp(`.{1,${width}}$|.{0,${width - 1}}[/@:,&-]|.{1,${width}}`, "gs")) ?? [];
}
