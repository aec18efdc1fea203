// The parts of a push spec, and whether its repository can be recorded with a digest.

export function repositoryOf(pushSpec: string): string {
  const colon = pushSpec.lastIndexOf(":");
  return colon > pushSpec.lastIndexOf("/") ? pushSpec.slice(0, colon) : pushSpec;
}

const RECORDABLE = /^([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+(:[0-9]{2,5})?\/([a-zA-Z0-9-_]{0,61}\/)?[a-zA-Z0-9-_.]*?$/;

/** Whether a MachineOSConfig can say `repository@digest`: its definition allows one namespace before the name. */
export function isRecordable(repository: string): boolean {
  return RECORDABLE.test(repository);
}

/** Empty for a reference without a digest. */
export function digestOfReference(reference: string): string {
  const at = reference.indexOf("@");
  return at < 0 ? "" : reference.slice(at + 1);
}
