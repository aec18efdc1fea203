// The pod that a core/v1 Event is about. Whoever may create events in a namespace decides what they say: the API server
// checks no length of the name of an involved object.
import { objectAt, textAt } from "../json.ts";
import type { KubeObject } from "../k8s/types.ts";

const MAX_NAME_LENGTH = 253;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** `namespace/name`; undefined when the event names nothing that a pod can be called. */
export function podOfEvent(event: KubeObject): string | undefined {
  const object = objectAt(event, "involvedObject");
  const [namespace, name] = [textAt(object, "namespace"), textAt(object, "name")];
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name) || !NAMESPACE.test(namespace)) return undefined;
  return `${namespace}/${name}`;
}
