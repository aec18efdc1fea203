// The DaemonSet of the exec format error monitor.
import type { KubeObject } from "../../k8s/types.ts";
import type { OperandConfig } from "../decide/config_view.ts";
import DAEMON_SET from "./exec_format_daemon_set.yaml" with { type: "text" };
import { renderManifest } from "./manifest.ts";

export function renderDaemonSet(
  config: OperandConfig,
  { namespace, image }: { readonly namespace: string; readonly image: string },
): KubeObject {
  return renderManifest(DAEMON_SET, config, { namespace, fill: (key, value) => key === "image" ? image : value });
}
