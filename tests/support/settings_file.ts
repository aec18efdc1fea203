// Settings of the configuration file, as the flag that names it.

/** Writes them into the folder, and gives the flag. */
export function settingsFlag(folder: string, settings: Readonly<Record<string, unknown>>): string {
  const path = `${folder}/archway-${crypto.randomUUID()}.yaml`;
  // JSON is YAML.
  Deno.writeTextFileSync(path, JSON.stringify(settings));
  return `--config=${path}`;
}
