// Whether kubectl, which renders kustomizations, is on this machine.

/** Asks it; a machine without skips the tests that need it. */
export function hasKubectl(): boolean {
  try {
    return new Deno.Command("kubectl", { args: ["version", "--client"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}
