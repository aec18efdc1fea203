// Writes a file that other processes read at any moment.

/** Writes the whole text beside the file and renames it into place: a reader finds all of the old text or of the new one. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const part = `${file}.part`;
  await Deno.writeTextFile(part, text);
  await Deno.rename(part, file);
}
