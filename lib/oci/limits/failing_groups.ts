// The groups of a host's repositories that fail. A group shares the first path segment: a project, an organisation, a
// pull-through cache. Groups often fail together, and without the rest of their host.
//
// A registry that names this host as its token server is a group of its own: what fails may be that registry's fault.
import { LRUCache } from "lru-cache";
import { atMost } from "../weights.ts";
import type { Circuit } from "./circuit.ts";

interface GroupMember {
  readonly repository: string;
  readonly isTokenServer?: boolean | undefined;
}

/** So many failing groups, and the host itself counts as failing. */
const GROUPS_OF_A_HOST = 3;
/** Users may name any number of repositories. */
const MAX_GROUPS = 64;
const TOKEN_SERVER = "@";

export class FailingGroups {
  readonly #circuits = new LRUCache<string, Circuit>(atMost(MAX_GROUPS));
  readonly #openCircuit: (group: string) => Circuit;

  constructor(openCircuit: (group: string) => Circuit) {
    this.#openCircuit = openCircuit;
  }

  get circuits(): readonly Circuit[] {
    return [...this.#circuits.values()];
  }

  /** The circuit of the request's group; undefined while nothing of it has failed. */
  of(request: GroupMember): Circuit | undefined {
    return this.#circuits.get(keyOf(request));
  }

  /** The same where it fails now. */
  failing(request: GroupMember): Circuit {
    const circuit = this.of(request) ?? this.#openCircuit(groupOf(request.repository));
    this.#circuits.set(keyOf(request), circuit);
    return circuit;
  }

  worked(request: GroupMember): void {
    this.of(request)?.worked();
    this.#circuits.delete(keyOf(request));
  }

  /** Whether so many fail that the host itself does. */
  get areMany(): boolean {
    return [...this.#circuits.keys()].filter((key) => !key.startsWith(TOKEN_SERVER)).length >= GROUPS_OF_A_HOST;
  }
}

function keyOf({ repository, isTokenServer = false }: GroupMember): string {
  return isTokenServer ? TOKEN_SERVER + repository : groupOf(repository);
}

function groupOf(repository: string): string {
  const slash = repository.indexOf("/");
  return slash < 0 ? repository : repository.slice(0, slash);
}
