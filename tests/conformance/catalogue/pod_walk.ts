// Rows of the pod's whole walk (PR, WH, IN, PC, E, EP, EX, TM, M2, M5), one line each.

/** Integration. */
export const PR = `
PR-01 index image placed on its two architectures
PR-02 single manifest placed on its one
PR-03 image that does not exist: given up
PR-04 image that does not exist: fallback
PR-05 private image by the global pull secret
PR-06 private image by the pod's pull secret
PR-07 IfNotPresent is answered from the cache
PR-08 Always asks the registry
PR-09 several multi-arch containers intersect
PR-10 multi-arch and single-arch intersect
PR-11 bundle index is neutral
PR-12 bundle manifest is neutral
PR-13 cluster preference on a plain pod
PR-14 cluster preference beside the user's
PR-15 user's architecture preference silences configs
PR-16 given up, preferences stay
PR-17 namespace configs before the cluster's
PR-18 namespace and cluster preferences add up
PR-19 higher priority of the same architecture
PR-20 user's preference against several configs
PR-21 overlapping configs, entry by entry
PR-22 user's preference against one config
PR-23 user's preference against the cluster config
PR-24 three configs deep
PR-25 config by label selector
PR-26 config without selector
WH-01 bound pod is not gated
IN-01 no cluster config before the first sync
IN-02 cluster config appears
IN-03 cluster config changes
IN-04 cluster config goes
PC-01 negative weight refused
PC-02 weight zero refused
PC-03 weight above 100 refused
PC-04 unknown architecture refused
PC-05 scoring without platforms refused
PC-06 empty architecture refused
PC-07 architecture twice refused
PC-08 priority taken refused
PC-09 update to a taken priority refused
PC-10 freed priority accepted
`;

/** End to end. */
export const E2E = `
E-01 Deployment of a four-arch image
E-02 privileged pod with its SCC
E-03 own hostname requirement
E-04 own preference of another key
E-05 own architecture preference
E-06 own required architecture
E-07 own required and preferred architecture
E-08 OR terms, one with an architecture
E-09 nodeSelector architecture
E-10 bound by nodeName
E-11 operator namespace
E-12 kube- namespace
E-13 StatefulSet of a single-arch image
E-14 StatefulSet of a four-arch image
E-15 multi-arch and single-arch containers
E-16 required architecture is left alone
E-17 intersection of three images to one
E-18 DaemonSet is ignored
E-19 Job
E-20 OpenShift Build
E-21 DeploymentConfig
E-22 private image without credentials
E-23 private image by the global secret
E-24 credential removed from the global secret
E-25 private image by the pod's secret
E-26 private image by a glob key
E-27 four private images of both secrets
E-28 insecure registry
E-29 registry of an unknown authority
E-30 registry of an added authority
E-31 blocked repository
E-32 short name by search registry
E-33 mirror of ICSP
E-34 mirror of IDMS, source never contacted
E-35 dead tag mirror, source allowed
E-36 dead tag mirror, source never contacted
E-37 tag and digest
E-38 port and digest
E-39 port and tag
E-40 port, tag and digest
E-41 three configs by priority
E-42 config by label selector
E-43 audit of two configs
E-44 audit of three configs, overlapping
E-45 own preference against a config
E-46 all leaves within five minutes
EP-01 architecture twice refused
EP-02 priority taken refused
EP-03 update to a taken priority refused
EP-04 freed priority accepted
EP-05 finalizer leaves with the last config
EX-01 namespace excluded by selector
EX-02 namespace not excluded
EX-03 namespace not included
EX-04 namespace included
EX-05 control-plane nodeSelector
EX-06 master nodeSelector
EX-07 scoring off and own architecture
EX-08 empty plugins
EX-09 given up, with scoring
EX-10 given up, with a fallback
EX-11 namespace config without cluster config refused
EX-12 cluster config kept while namespace configs exist
EX-13 finalizer comes and goes with namespace configs
EX-14 only a namespace config scores
EX-15 namespace config of other labels
EX-16 two namespace configs, no cluster scoring
EX-17 uninstall waits for gated pods
EX-18 cluster config with an architecture twice refused
TM-01 sample without affinity
TM-02 sample with empty affinity
TM-03 sample that requires an operating system
TM-04 sample that requires an architecture
TM-05 sample of two containers that requires one
TM-06 sample that needs a pull secret
TM-07 sample in an excluded namespace
TM-08 sample with a nodeSelector architecture
TM-09 sample with OR terms
M2-01 namespace config needs the cluster config
M2-02 cluster config stays while namespace configs exist
M2-03 namespace preferences before the cluster's
M2-04 highest priority wins
M2-05 equal priority refused
M2-06 absent priority is zero
M2-07 other labels, not applied
M2-08 local controller per namespace
M2-09 local controller goes with the last config
M2-10 local controller minds its namespace
M2-11 cluster controller waits for the local gate
`;

/** Tests planned for a plugin of expressions, which the MTO never built. */
export const M5 = `
M5-01 valid fallback list
M5-02 unknown architecture as fallback
M5-03 empty fallback list
M5-04 too many fallbacks
M5-05 valid rule
M5-06 rule of an unknown architecture
M5-07 duplicates allowed
M5-08 no rules
M5-09 limit of rules
M5-10 rule names
M5-11 empty expression
M5-12 number of a rule's architectures
M5-13 expression compiles
M5-14 syntax error
M5-15 compiled once
M5-16 operators
M5-17 fields out of reach
M5-18 unknown field
M5-19 expression that is not boolean
M5-20 match by name
M5-21 match by labels
M5-22 match by well-known labels
M5-23 missing metadata
M5-24 failure at run time
M5-25 nodeSelector architecture removed
M5-26 nodeSelector without architecture
M5-27 architecture expressions removed
M5-28 empty terms dropped
M5-29 null affinity
M5-30 preferred terms kept
M5-31 architectures applied
M5-32 fallback applied
M5-33 namespace fallback first
M5-34 plugin registration
M5-35 plugin refused in the cluster config
M5-36 priorities
M5-37 equal priorities
M5-38 selector that does not match
M5-39 first matching rule
M5-40 result of each kind of constraint
M5-41 gate removed
M5-42 no inspection
M5-43 plugin off
M5-44 with scoring
M5-45 any namespace
M5-46 excluded namespaces
M5-47 own namespace only
M5-48 configs change on the way
M5-49 annotations
M5-50 time for many rules
M5-51 time to remove constraints
M5-52 many pods at once
M5-53 upgrade
M5-54 downgrade
`;
