// Rows of the pod model (MD, PM), one line each: id and title.

/** The pod model that every part of the MTO shares. */
export const MD = `
MD-01 adds a gate to null gates
MD-02 adds a gate to an empty list
MD-03 adds a gate beside another
MD-04 adds no gate twice
MD-05 finds no gate in null
MD-06 finds no gate in an empty list
MD-07 finds no gate among others
MD-08 finds the only gate
MD-09 finds the gate among others
MD-10 removes a gate from null
MD-11 removes a gate that is not there
MD-12 removes the only gate
MD-13 sets a label on a pod without labels
MD-14 sets a label beside another
MD-15 overwrites a label
MD-16 sets an annotation on a pod without any
MD-17 sets an annotation beside another
MD-18 overwrites an annotation and keeps the other
MD-19 removes a label from null
MD-20 removes the only label
MD-21 removes one label of two
MD-22 removes no label that has another name
MD-23 null nodeSelector selects no control plane
MD-24 empty nodeSelector selects no control plane
MD-25 unrelated nodeSelector selects no control plane
MD-26 control-plane role is recognised
MD-27 master role is recognised
MD-28 counter label starts at one
MD-29 counter label counts on
MD-30 counter label restarts when it is no number
MD-31 no owner, no DaemonSet
MD-32 a Deployment owner is no DaemonSet
MD-33 a controlling DaemonSet owner is recognised
MD-34 container name by CRI-O id
MD-35 container name by containerd id
MD-36 container name of an unknown id
MD-37 container name of a malformed id
MD-38 container name of an empty id
`;

/** The pod as placement sees it. */
export const PM = `
PM-01 no pull secrets give an empty list
PM-02 one pull secret is listed
PM-03 an empty list of pull secrets stays empty
PM-04 own gate, null gates
PM-05 own gate, empty gates
PM-06 own gate, alone
PM-07 own gate, only a foreign one
PM-08 own gate, among foreign ones
PM-09 remove own gate from null
PM-10 remove own gate from an empty list
PM-11 remove own gate, the only one
PM-12 remove own gate, only a foreign one there
PM-13 remove own gate, foreign order kept
PM-14 images of one container
PM-15 images of containers without duplicates
PM-16 images of init containers count
PM-17 an Always image bypasses the cache
PM-18 shared set of one multi-arch image
PM-19 shared set of one single-arch image
PM-20 shared set of the same image twice
PM-21 shared set of multi and single
PM-22 shared set of two multi-arch images
PM-23 a failing image fails the whole set
PM-24 requirement names the shared architectures, sorted
PM-25 no requirement when an image fails
PM-26 nothing shared gives the unsupported key
PM-27 required affinity without terms gets one
PM-28 a term without expressions gets one
PM-29 a term with an empty list gets one
PM-30 every OR term is narrowed
PM-31 a term with an architecture is left alone
PM-32 cluster preference on a plain pod
PM-33 cluster preference after the user's
PM-34 the user's architecture preference stays alone
PM-35 two configs, the first of an architecture wins
PM-36 two configs behind a user's preference
PM-37 two configs against a user's architecture preference
PM-38 no platforms keep an empty list
PM-39 fallback on a plain pod
PM-40 required on null affinity
PM-41 required beside a nodeSelector
PM-42 nodeSelector with an architecture is left alone
PM-43 required on a pod without affinity
PM-44 required on affinity without nodeAffinity
PM-45 required on nodeAffinity without required
PM-46 required behind an existing expression
PM-47 required keeps podAffinity and preferences
PM-48 a failing image leaves affinity alone
PM-49 required when nothing is shared
PM-50 no labels without values
PM-51 empty values give the unsupported label
PM-52 labels of one architecture
PM-53 labels of two architectures
PM-54 unknown architectures get no label of their own
PM-55 only unknown architectures are still multi-arch
PM-56 gate on null gates
PM-57 gate on empty gates
PM-58 gate not twice
PM-59 gate after a foreign one
PM-60 a plain pod is not ignored
PM-61 operator namespace is ignored
PM-62 kube-system is ignored
PM-63 a bound pod is ignored
PM-64 a control-plane pod is ignored
PM-65 a DaemonSet pod is ignored
PM-66 DaemonSet owner that does not control
PM-67 DaemonSet owner with null controller
PM-68 own required architecture, no scoring
PM-69 own required and preferred architecture, scoring
PM-70 own required architecture only, scoring
PM-71 own required architecture, scoring disabled
PM-72 no affinity, no preference
PM-73 no nodeAffinity, no preference
PM-74 null preferred, no preference
PM-75 a preferred architecture is seen
PM-76 another preferred key is none
PM-77 nodeSelector architecture counts as required
PM-78 nothing set, nothing required
PM-79 affinity without nodeAffinity requires nothing
PM-80 empty nodeAffinity requires nothing
PM-81 an architecture in the only term counts
PM-82 another key in the only term does not
PM-83 an architecture in one of two terms does not
PM-84 no namespace configs
PM-85 matching labels select
PM-86 other labels do not select
PM-87 several configs, those that match
PM-88 a faulty selector is passed over
PM-89 null selector selects all
PM-90 empty selector selects a pod without labels
PM-91 In expression selects
PM-92 no config scores
PM-93 one config scores
PM-94 one config with scoring off
PM-95 plugins without scoring
PM-96 all with scoring off
PM-97 one of two scores
PM-98 both score
PM-99 Exists needs a label
PM-100 NotIn selects other values
PM-101 DoesNotExist selects absence
PM-102 combined selectors
PM-103 only faulty selectors
PM-104 not ignored when a namespace config scores
PM-105 ignored when neither scores and an architecture is chosen
PM-106 operator namespace wins over scoring
PM-107 kube-system wins over scoring
PM-108 bound pod wins over scoring
PM-109 one of two matching configs scores
PM-110 audit of one applied preference
PM-111 audit of applied and skipped ones
PM-112 audit does not repeat itself
PM-113 audit of a skipped duplicate
PM-114 audit stays small
`;
