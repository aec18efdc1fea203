// Rows derived from the MTO's code (DV), one line each: id, and in one sentence what it demands.

/** Derived from the behaviour of the code; where that is a fault, the row demands what it should do. */
export const DV = `
DV-01 A plain pod without scoring is gated, and labelled as gated and not yet placed, without annotations.
DV-02 With cluster scoring a gated pod also has the label preferred-node-affinity=not-set.
DV-03 With a matching namespace config that scores, a gated pod also has the label preferred-node-affinity=not-set.
DV-04 A namespace config that scores and does not match adds no preferred label.
DV-05 A gate label that came with a copied manifest is overwritten with gated.
DV-06 A pod that brings the gate along has it once and is labelled as gated.
DV-07 The gate comes after the foreign gates of a pod.
DV-08 A pod is admitted as if there were no namespace configs when they cannot be listed.
DV-09 An object that cannot be decoded is admitted without a patch.
DV-10 A pod whose nodeSelector names an architecture is ignored while no cluster config is loaded.
DV-11 A plain pod is gated while no cluster config is loaded, without a preferred label.
DV-12 A dry run is answered with the patch and has no side effects.
DV-13 A pod with generateName is gated, and an event says so.
DV-14 A stored pod gets the Normal event ArchAwareSchedGateAdded.
DV-15 A pod that a later admission refuses leaves no event.
DV-16 Each request counts as processed and in the response time, and only gated pods count as gated.
DV-17 A pod that requires an architecture in only one of two terms is gated.
DV-18 A pod whose required architecture is only among matchFields is gated.
DV-19 A pod that requires an architecture by NotIn in all terms is ignored while scoring is off.
DV-20 A pod in a namespace such as kubevirt-foo is gated, since its name does not begin with kube and a dash.
DV-21 A pod in a namespace that begins with openshift- is gated unless the selector excludes it.
DV-22 A pod with several owners is ignored when one of them is a controlling DaemonSet.
DV-23 A pod that selects the control plane by affinity instead of nodeSelector is gated.
DV-24 A pod on the host's network, or for Windows, is gated.
DV-25 The answer has the request's uid and allowed, and a JSON Patch only when something changes.
DV-26 The webhook is called for no binding, and for no update of a pod but one that brings an image to its node; it changes none.
DV-27 While the webhook is down, pods are admitted untouched.
DV-30 A pending pod without the gate is not written to.
DV-31 A pod that was gated by hand in a namespace that the selector excludes is processed all the same.
DV-32 A gated pod in a namespace that is ignored is released, labelled as such, with an event.
DV-33 A gated pod that got a nodeSelector for an architecture is released with its affinity unchanged while scoring is off.
DV-34 A gated pod that requires an architecture gets preferences without inspection and no architecture labels.
DV-35 When a pod is released, foreign gates stay.
DV-36 A sidecar for arm64 alone restricts its pod to arm64.
DV-37 An image volume does not restrict its pod.
DV-38 An image with two pull policies in one pod is looked up for each.
DV-39 An architecture without a label of its own is required all the same.
DV-40 Where images share nothing, each term gets no-supported-arch, and gate, label and event say so.
DV-41 Where images share nothing, a term with a user's architecture also gets no-supported-arch.
DV-42 A term of matchFields alone gets the architectures as expressions and keeps its fields.
DV-43 The architectures come last, and existing expressions keep their order.
DV-44 A pod whose only required term is empty is released without affinity, which is recorded.
DV-45 After a failure and a success the count stays, the error label goes, and preferences are not repeated.
DV-46 A pod with a counter of 4 set by its user is released at the first failure.
DV-47 A counter that is no number restarts at 1.
DV-48 After four failures a pod is still gated, with the count 4.
DV-49 Counting goes on from the label after a restart of the controller.
DV-50 The annotation of an error is cut to 256 code points.
DV-51 Without cluster config there is no fallback after five failures.
DV-52 The fallback is added only to terms without an architecture.
DV-53 A fallback without preferences also posts the event that no preferences were set.
DV-54 A missing pull secret is skipped, and inspection goes on without it.
DV-55 A pull secret of type Opaque is skipped.
DV-56 A pull secret of the older form dockercfg is used.
DV-57 A pull secret without auths is skipped and logged.
DV-58 An entry of a pull secret with username and password alone is used.
DV-59 Of the same key in several secrets the pod's value is used before the global one, the last listed first.
DV-60 A conflict on the write is an error with an event, is tried again, and is not counted as a failure.
DV-61 A pod deleted during inspection is reported as an error once.
DV-62 A namespace config that is created makes the gated pods of its namespace be looked at again.
DV-63 A namespace config that the cache does not have yet is found by listing them.
DV-64 While namespace configs cannot be listed, the pod is tried again later and nothing is counted.
DV-65 A gated pod whose cluster config is removed is placed without preferences and fallback.
DV-66 Of namespace configs with equal priority the oldest comes first, then the smallest name.
DV-67 Of an architecture that one config names twice the first weight counts, and the second is audited as skipped.
DV-68 A user's preference for an architecture by NotIn counts as one, and configs are skipped.
DV-69 Weights of configs are copied as they are, also where their sum exceeds 100.
DV-70 A preference for an architecture that the image lacks is added all the same.
DV-71 A pod that has left Pending is not processed.
DV-72 Of two replicas only the leader places pods.
DV-80 A Docker manifest list gives the union of its platforms.
DV-81 An OCI index gives the union of its platforms.
DV-82 An index without mediaType is recognised by its shape.
DV-83 A single image of Docker schema 2 gives the architecture of its config.
DV-84 An image of Docker schema 1 gives the architecture of its newest history entry.
DV-85 An OCI artifact whose config is not that of an image is an error.
DV-86 Index entries without platform are skipped.
DV-87 The operating system of each index entry is known, so that Linux pods do not count Windows entries.
DV-88 An index of two variants of arm gives the architecture arm once.
DV-89 An index whose first valid image has the label of a bundle runs on every architecture.
DV-90 An index whose second image has the label of a bundle is not recognised as one.
DV-91 Each of the seven labels of bundles is recognised, also with an empty value.
DV-92 A single image without architecture is an error.
DV-93 A single image by digest whose content differs from it is an error.
DV-94 An index by digest whose content differs from it is an error.
DV-95 An image of an index, or a config, whose content differs from its digest is an error.
DV-96 A manifest of more than 4 MiB is an error.
DV-97 A missing registries.conf is an error.
DV-98 A policy.json that is missing or rejects everything is an error.
DV-99 The most specific scope of policy.json decides, so that rejecting one repository fails that one alone.
DV-100 A blocked registry with a working mirror is inspected by the mirror.
DV-101 A mirror for digests only is skipped for a tag.
DV-102 A mirror for tags only is skipped for a digest.
DV-103 Of two prefixes that match the longest is used.
DV-104 The prefix *.example.com matches subdomains only.
DV-105 A drop-in file wins over the main registries.conf.
DV-106 A registries.conf that is edited holds from the next inspection.
DV-107 An insecure registry is asked by HTTPS first and then by HTTP.
DV-108 A short name that the first search registry does not have is looked up at the second.
DV-109 A short name without search registries is an error.
DV-110 A short name with two search registries in enforcing mode is an error.
DV-111 A short name with an alias is looked up at the alias alone.
DV-112 The name nginx is docker.io/library/nginx:latest at the registry of Docker Hub.
DV-113 After an answer 429 the inspection waits and then succeeds.
DV-114 A bearer challenge is answered with a token of the right to pull the repository.
DV-115 The old key of Docker Hub in a pull secret is used for images of docker.io.
DV-116 Of two keys for the same host that with the longest path is used.
DV-117 An image that was inspected with the same secrets causes no traffic.
DV-118 An image that was inspected with other secrets is inspected again.
DV-119 After the global pull secret changed an image is inspected again.
DV-120 After the global pull secret was deleted its credential is not used any more.
DV-121 Beyond the size of the cache the least recently used image is forgotten.
DV-122 An entry of the cache is looked up again after six hours.
DV-123 With the policy Always each look-up asks the registry, and the entry for other policies stays.
DV-124 A failure is not cached, so that the next look-up asks the registry again.
DV-125 The path of a credential with a star ends at a boundary: /foo does not match /foobar.
DV-126 A credential with a star and a port does not match another port.
DV-127 Without a global pull secret images are inspected without login.
DV-130 A namespace config that names an architecture twice is accepted while its scoring is off.
DV-131 Namespace configs of different namespaces may have the same priority.
DV-132 Of two namespace configs without priority in one namespace the second is refused, since both count as 0.
DV-133 An update that keeps its priority is accepted although another config has the same.
DV-134 Updating a namespace config without cluster config is refused with 400.
DV-135 Deleting a namespace config without cluster config is accepted.
DV-136 A priority of 256 or -1 is refused by the schema.
DV-137 A namespace config without plugins is refused by the schema.
DV-138 A scoring plugin that does not say whether it is enabled is refused by the schema.
DV-139 A namespace config whose selector cannot select is refused or warned of.
DV-140 The metrics of the controller are present at zero before the first pod.
DV-141 A pod with two failures and then success counts three times as processed and twice as failed.
DV-142 Every histogram has the eighteen finite buckets of the MTO.
DV-143 A scrape of the metrics without a token is refused.
`;
