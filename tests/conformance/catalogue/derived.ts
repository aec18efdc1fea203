// Rows derived from the reference's code (DV), one line each.

/** Derived from the behaviour of the code. */
export const DV = `
DV-01 plain pod is gated with two labels
DV-02 cluster scoring adds the preferred label
DV-03 namespace scoring adds the preferred label
DV-04 other namespace config adds none
DV-05 copied gate label is overwritten
DV-06 gate brought along is not doubled
DV-07 gate after foreign ones
DV-08 namespace configs cannot be listed
DV-09 object that cannot be decoded
DV-10 own architecture, no cluster config
DV-11 plain pod, no cluster config
DV-12 dry run has no side effects
DV-13 pod with generateName
DV-14 event of the added gate
DV-15 pod refused by a later admission
DV-16 admission metrics
DV-17 architecture in one of two terms
DV-18 architecture among matchFields
DV-19 architecture by NotIn
DV-20 namespace that only begins with kube
DV-21 openshift- namespace
DV-22 DaemonSet among several owners
DV-23 control plane by affinity
DV-24 host network and Windows
DV-25 shape of the answer
DV-26 updates and bindings are not called
DV-27 webhook down
DV-30 no gate, no write
DV-31 gated by hand in an excluded namespace
DV-32 gated in a namespace that is ignored
DV-33 own architecture after gating
DV-34 own architecture, scoring
DV-35 foreign gate is kept
DV-36 sidecar narrows
DV-37 image volume is ignored
DV-38 one image of two pull policies
DV-39 architecture without label of its own
DV-40 nothing in common
DV-41 nothing in common, term with an architecture
DV-42 term of matchFields alone
DV-43 expressions keep their order
DV-44 empty term
DV-45 failure, then success
DV-46 counter seeded by the user
DV-47 counter that is no number
DV-48 four failures
DV-49 restart between failures
DV-50 error annotation is cut
DV-51 fallback without cluster config
DV-52 fallback respects the user's terms
DV-53 fallback without preferences
DV-54 pull secret missing
DV-55 pull secret of another type
DV-56 old secret format
DV-57 secret without entries
DV-58 entry of name and password
DV-59 same key in several secrets
DV-60 conflict on write
DV-61 pod deleted meanwhile
DV-62 namespace config wakes gated pods
DV-63 namespace config not yet seen
DV-64 namespace configs forbidden
DV-65 cluster config removed meanwhile
DV-66 equal priorities
DV-67 architecture twice in one config
DV-68 preference by NotIn
DV-69 weights are copied
DV-70 preference for a missing architecture
DV-71 pod leaves Pending
DV-72 one of two replicas works
DV-80 Docker manifest list
DV-81 OCI index
DV-82 index known by its shape
DV-83 Docker schema 2
DV-84 Docker schema 1
DV-85 artifact that is no image
DV-86 entry without platform
DV-87 Windows and Linux entries
DV-88 variants
DV-89 bundle by its first child
DV-90 bundle label on the second child
DV-91 each bundle label
DV-92 config without architecture
DV-93 digest does not match, manifest
DV-94 digest does not match, index
DV-95 digest does not match, child or config
DV-96 manifest too large
DV-97 registries.conf missing
DV-98 policy.json missing or rejecting
DV-99 policy of one scope
DV-100 blocked registry with a mirror
DV-101 digest-only mirror
DV-102 tag-only mirror
DV-103 longest prefix
DV-104 subdomain prefix
DV-105 drop-in wins
DV-106 changed registries.conf
DV-107 insecure registry over HTTP
DV-108 search registries in order
DV-109 no search registries
DV-110 enforcing mode
DV-111 alias
DV-112 Docker Hub names
DV-113 429, then success
DV-114 bearer challenge
DV-115 old Docker Hub key
DV-116 longest key
DV-117 cached with the same secrets
DV-118 other secrets ask again
DV-119 global secret changes
DV-120 global secret goes
DV-121 least recently used is evicted
DV-122 entries grow old
DV-123 Always asks each time
DV-124 failures are not cached
DV-125 glob path ends at a boundary
DV-126 glob needs its port
DV-127 no global secret
DV-130 doubles while scoring is off
DV-131 same priority in another namespace
DV-132 two absent priorities
DV-133 update that keeps its priority
DV-134 update without cluster config
DV-135 deletion without cluster config
DV-136 priority out of range
DV-137 plugins missing
DV-138 scoring without enabled
DV-139 selector that cannot select
DV-140 metrics present before the first pod
DV-141 metrics of failures and success
DV-142 histogram buckets
DV-143 scrape without a token
`;
