// Recognizes WebAssembly (Wasm): RuntimeClasses by their name, images by their platforms. Pure.
import type { Platform } from "../../oci/inspection.ts";

/**
 * Containerd shims for Wasm whose names do not begin with `wasm` or `wasi`. RuntimeClasses are named like their
 * handlers: `wasmtime-spin-v2`.
 */
const WASM_SHIMS: readonly string[] = ["spin", "slight", "wws", "lunatic", "wamr", "runwasi"];

/**
 * Whether a RuntimeClass of this name runs Wasm. Its nodeSelector, which the API server adds to the pod, says on which
 * nodes.
 */
export function isWasmRuntime(runtimeClassName: string): boolean {
  return runtimeClassName.toLowerCase().split(/[-.]/).some((word) =>
    /^was[mi]/.test(word) || WASM_SHIMS.includes(word)
  );
}

/** Whether one of these platforms is Wasm: `wasi/wasm`, `wasip1/wasm`. */
export function hasWasm(platforms: readonly Platform[]): boolean {
  return platforms.some(({ architecture }) => architecture === "wasm");
}
