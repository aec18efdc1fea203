// Rows of the pod's whole walk (PR, WH, IN, PC, E, EP, EX, TM, M2, M5), one line each: id, and in one sentence what it demands.

/** Integration. */
export const PR = `
PR-01 A pod with an index of amd64 and arm64 loses its gate, requires both, and all three state labels say so.
PR-02 A pod with a single manifest of ppc64le loses its gate and requires ppc64le.
PR-03 A pod whose image does not exist loses its gate after five counted failures, without required architecture.
PR-04 With a fallback architecture, a pod whose image does not exist requires that one after five failures and is labelled so.
PR-05 A private image is inspected with the credentials of the global pull secret.
PR-06 A private image is inspected with the credentials of the pod's own pull secret.
PR-07 With the policy IfNotPresent a second pod gets the architectures in the cache, although the tag was pushed again.
PR-08 With the policy Always a second pod gets the architectures of the tag as it was pushed again.
PR-09 A pod with several multi-architecture images requires the architectures that all of them share.
PR-10 A pod with a multi-architecture and a single-architecture image requires the single one.
PR-11 The index of an operator bundle restricts nothing: the pod requires what its other image supports.
PR-12 The single manifest of an operator bundle restricts nothing: the pod requires what its other image supports.
PR-13 A pod without preferred terms gets that of the cluster config.
PR-14 A pod with a preference for another key keeps it and gets that of the cluster config.
PR-15 A pod that prefers an architecture gets no preference from configs and the label preferred-node-affinity=not-set.
PR-16 A pod that is released after five failed inspections has the preferences of the configs all the same.
PR-17 Preferences of namespace configs come first, and that of the cluster config for the same architecture is skipped and audited.
PR-18 Preferences of a namespace config and those of the cluster config for other architectures are all added.
PR-19 Of two namespace configs for one architecture that with the higher priority gives the weight.
PR-20 A pod that prefers an architecture gets nothing from two namespace configs, and its label says not-set.
PR-21 Overlapping namespace configs are merged by architecture, the higher priority first, and the audit names what was skipped.
PR-22 A pod that prefers an architecture gets nothing from a namespace config for the same one.
PR-23 A pod that prefers an architecture gets nothing from the cluster config for the same one.
PR-24 Of three overlapping namespace configs each architecture has the weight of the highest priority, and six entries are audited.
PR-25 A namespace config with a label selector applies to the pod that it selects and not to another.
PR-26 A namespace config without selector applies to a pod without labels, together with the cluster config.
WH-01 A pod that is created with a nodeName is admitted without the gate.
IN-01 Before the first synchronisation there is no cluster config in memory.
IN-02 A cluster config that is created appears in memory as it is.
IN-03 A change of the cluster config's logVerbosity appears in memory.
IN-04 A cluster config that is deleted is gone from memory.
PC-01 A namespace config with a negative weight is refused as Invalid.
PC-02 A namespace config with the weight 0 is refused as Invalid.
PC-03 A namespace config with a weight of 200 is refused as Invalid, since 100 is the most.
PC-04 A namespace config with an unknown architecture is refused as Invalid.
PC-05 A namespace config that scores without platforms is refused as Invalid.
PC-06 A namespace config with an empty architecture is refused as Invalid.
PC-07 A namespace config that names an architecture twice is refused.
PC-08 A second namespace config with the same priority in the namespace is refused, and the first stays.
PC-09 An update of a namespace config to a priority that another has is refused.
PC-10 The priority of a deleted namespace config can be used again.
`;

/** End to end. */
export const E2E = `
E-01 Pods of a Deployment with an image of four architectures require all four, are labelled so, and prefer what the cluster config says.
E-02 A privileged pod with a hostPath keeps the annotation of its security context constraints and is placed like any other.
E-03 A required term on the hostname gets the architectures as its second expression.
E-04 A preference of the user for another key stays beside that of the cluster config.
E-05 A pod that prefers an architecture is placed and keeps its preference alone, and the audit names the skipped cluster config.
E-06 A pod that requires an architecture is released with that requirement unchanged and gets the preference of the cluster config.
E-07 A pod that requires and prefers an architecture is never gated, and both stay unchanged.
E-08 Of two required terms, which are ORed, that with an architecture stays and the other gets those of the image.
E-09 A pod whose nodeSelector names an architecture gets preferences, but no required affinity.
E-10 A pod created with a nodeName is never gated, gets no affinity, and runs.
E-11 A pod in the operator's namespace is never gated and gets no affinity.
E-12 A pod in a namespace that begins with kube- is never gated and gets no affinity.
E-13 Pods of a StatefulSet with an image for arm64 alone require arm64 and are labelled single-arch.
E-14 Pods of a StatefulSet with an image of four architectures require all four.
E-15 A StatefulSet's pods with a multi-architecture image and one for arm64 require arm64.
E-16 A StatefulSet's pods of two containers that require an architecture keep that requirement and get preferences alone.
E-17 Three images that share only arm64 make the pod require arm64.
E-18 A pod of a DaemonSet is never gated, and its affinity for its node stays as it is.
E-19 Pods of a Job with an image of four architectures require all four.
E-20 The pod of an OpenShift Build is placed like any other.
E-21 Pods of an OpenShift DeploymentConfig are placed like any others.
E-22 A pod with a private image and no credentials is released without required architecture, with preferences.
E-23 A private image for arm64 and ppc64le, whose credentials are in the global pull secret, makes the pod require both.
E-24 After its credential left the global pull secret, a private image that was known is not placed for the next Deployment.
E-25 A private image whose credentials are in the pod's own pull secret is placed.
E-26 A private image is placed by a pull secret whose key has a star in its host.
E-27 Four private images with credentials in both secrets make the pod require arm64, which all of them share.
E-28 An image of a registry that is configured as insecure is placed.
E-29 A pod with an image of a registry whose authority is unknown is released without required architecture.
E-30 An image of a registry whose authority was added to the trusted ones is placed.
E-31 A pod with an image in a blocked repository is released without required architecture.
E-32 A short image name is looked up in the search registry, and its pod is placed and runs.
E-33 An image by digest whose source is dead is placed by the mirror of an ImageContentSourcePolicy, and runs.
E-34 An image by digest is placed by the mirror of an ImageDigestMirrorSet that never contacts the source, and runs.
E-35 An image by tag whose mirror is dead is placed by its source where that may be contacted, and runs.
E-36 A pod with an image by tag whose mirror is dead and whose source is never contacted is released without required architecture.
E-37 An image named with tag and digest is placed and runs.
E-38 An image named with port and digest is placed and runs.
E-39 An image named with port and tag is placed and runs.
E-40 An image named with port, tag and digest is placed and runs.
E-41 Three namespace configs and the cluster config give one preference an architecture, that of the highest priority.
E-42 A namespace config with a label selector applies to the Deployment that it selects and not to another.
E-43 Two namespace configs for one architecture give the weight of the higher priority, and the audit has exactly three entries.
E-44 Two overlapping namespace configs and the cluster config are merged by architecture, and the audit has exactly five entries.
E-45 A pod that prefers an architecture gets no preference from a namespace config, but is placed and labelled.
E-46 When its configs are deleted, the cluster config and the operands are gone within five minutes.
EP-01 A namespace config that names an architecture twice is refused.
EP-02 A second namespace config with the same priority in the namespace is refused.
EP-03 An update of a namespace config to a priority that another has is refused.
EP-04 The priority of a deleted namespace config can be used again.
EP-05 When the last namespace config is gone, the cluster config loses its finalizer for them and can be deleted.
EX-01 A pod in a namespace that the selector of the cluster config excludes has no gate label and no affinity.
EX-02 A pod in a namespace that the selector does not exclude is gated, placed and released.
EX-03 A pod in a namespace that the selector does not include is left untouched.
EX-04 A pod in a namespace that the selector includes is placed, without preferences while no plugin is on.
EX-05 A pod whose nodeSelector selects the role control-plane is never gated and gets no affinity.
EX-06 A pod whose nodeSelector selects the role master is never gated and gets no affinity.
EX-07 With scoring off, a pod that requires an architecture is never gated and has no preferred label.
EX-08 With an empty object of plugins pods are gated and released as usual.
EX-09 With scoring on, a pod whose image does not exist is released after five failures, with preferences alone.
EX-10 With scoring and a fallback architecture, a pod whose image does not exist requires the fallback after five failures.
EX-11 A namespace config is refused while there is no cluster config.
EX-12 Deleting the cluster config is refused while there are namespace configs, and allowed when they are gone.
EX-13 The cluster config's finalizer for namespace configs comes with the first and goes with the last of them.
EX-14 With cluster scoring off, a matching namespace config makes its pods placed and preferred as it says.
EX-15 With cluster scoring off, a pod that the namespace config does not select is placed without preferences.
EX-16 With cluster scoring off, two matching namespace configs for different architectures both give their preference.
EX-17 A cluster config that is deleted keeps its finalizer, and the controller stays, until no pending pod has the gate.
EX-18 A cluster config that names an architecture twice is refused.
TM-01 A pod without affinity gets a required term with its architectures.
TM-02 A pod with an empty affinity gets a required term with its architectures.
TM-03 A term that requires an operating system gets the architectures as its second expression.
TM-04 A pod that requires arm64 keeps that requirement unchanged.
TM-05 A pod of two containers that requires arm64 keeps that requirement unchanged.
TM-06 A pod whose image needs credentials is placed by means of its pull secret.
TM-07 A pod in a namespace labelled as excluded is not touched.
TM-08 A pod whose nodeSelector names an architecture gets no required affinity.
TM-09 Of two required terms, which are ORed, only that without an architecture gets those of the image.
M2-01 Creating a namespace config is refused while there is no cluster config.
M2-02 Deleting the cluster config is refused while there are namespace configs.
M2-03 Preferences of a namespace config apply, and those of the cluster config for the same architectures are ignored.
M2-04 Of several matching namespace configs that with the highest priority wins.
M2-05 A priority that another config of the namespace has is refused.
M2-06 An absent priority counts as 0, so only one namespace config of a namespace may omit it.
M2-07 A namespace config whose labels do not match does not apply.
M2-08 The first namespace config of a namespace makes a controller and a webhook for that namespace.
M2-09 When the last namespace config of a namespace goes, its controller and webhook go as well.
M2-10 The controller of a namespace handles pods of its own namespace only.
M2-11 The cluster's controller waits until the gate of the namespace's controller is gone.
`;

/** Tests planned for a plugin of expressions, which the MTO never built. */
export const M5 = `
M5-01 A plugin with known architectures as fallback is accepted.
M5-02 A plugin with an unknown architecture as fallback is refused.
M5-03 A plugin with an empty list of fallbacks is refused.
M5-04 A plugin with more than four fallbacks is refused.
M5-05 A rule with known architectures is accepted.
M5-06 A rule with an unknown architecture is refused by its name, also beside known ones.
M5-07 Architectures may repeat in the fallbacks and between rules.
M5-08 A plugin without rules is accepted.
M5-09 A plugin with 1,000 rules is accepted, and one with 1,001 is refused.
M5-10 A rule whose name is empty or longer than 253 characters is refused.
M5-11 A rule whose expression is empty is refused.
M5-12 A rule with no architecture or with more than four is refused.
M5-13 A valid CEL expression compiles when the config is written.
M5-14 An expression with a syntax error is refused, with the place of the error.
M5-15 An expression is compiled once and then taken from a cache.
M5-16 Expressions can compare, combine with and/or, and use in, has and startsWith.
M5-17 An expression that reads the spec or status of a pod is refused.
M5-18 An expression that reads an unknown field is refused.
M5-19 An expression that does not give a boolean is refused.
M5-20 A rule can match a pod by its whole name or by a prefix of it.
M5-21 A rule can match a pod by one label, by several with and/or, and nested.
M5-22 A rule on two well-known application labels matches only when the pod has both.
M5-23 A missing label or missing metadata makes an expression false, without an error.
M5-24 An expression that fails at run time is logged and counts as false, and the next rule is tried.
M5-25 When a rule applies, the architecture leaves the nodeSelector and its other keys stay.
M5-26 When a rule applies, a nodeSelector without architecture is not changed.
M5-27 When a rule applies, architecture expressions leave all required terms and other expressions stay.
M5-28 A required term that is empty after its architecture was removed is dropped.
M5-29 A rule applies also where nodeAffinity or its required part is null.
M5-30 Preferred terms are never changed when a rule applies.
M5-31 A rule makes the pod require the one to four architectures that it lists.
M5-32 When no rule matches or all fail, the pod's constraints are removed and the fallback applies.
M5-33 The fallback of the namespace config comes before that of the cluster config.
M5-34 The plugin counts as enabled only where it is there and says so.
M5-35 The plugin is refused in the cluster config as unknown.
M5-36 Of two namespace configs with the plugin only that with the higher priority applies.
M5-37 Of two configs with equal priority the oldest applies, then that with the smallest name.
M5-38 A config whose selector does not match the pod is ignored.
M5-39 Of several matching rules the first applies, and the others are not evaluated.
M5-40 Whatever constraints a pod has, the result is the architectures of the rule alone.
M5-41 The gate is removed after the rules were applied.
M5-42 No image is inspected when the plugin chose the architectures.
M5-43 When the plugin is off, images are inspected and decide.
M5-44 With scoring, preferences are added after the plugin, and the required architectures stay.
M5-45 The plugin works in users' namespaces, in openshift-operators and in operators' own namespaces.
M5-46 Pods of excluded namespaces are not processed.
M5-47 Only configs of the pod's own namespace apply to it.
M5-48 Configs that are created, changed or deleted while pods are processed take effect as they are then.
M5-49 Annotations of the pod name the rule and the config that applied, in a fixed format.
M5-50 Evaluating 1,000 rules takes less than 10 ms for a pod.
M5-51 Removing the constraints of a pod takes microseconds.
M5-52 Many pods of several namespaces at once are each decided correctly and independently.
M5-53 After an upgrade to a version that has the plugin, it is off by default.
M5-54 After a downgrade to a version without the plugin it is ignored, and images decide.
`;
