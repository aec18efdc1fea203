// Rows about image builds, one line each: O of the machine config operator's builds, P of builds for several architectures.

/** The machine config operator's image builds. */
export const O = `
O-001 smallest MachineOSConfig
O-002 push spec with a port
O-003 malformed push spec
O-004 MachineOSConfig without a pull secret
O-005 MachineOSConfig must have its pool's name
O-006 older object of another name, other field changed
O-007 older object of another name, moved to a third pool
O-008 older object of another name, moved to its pool
O-009 smallest MachineOSBuild
O-010 builder without its Job
O-011 end of a build before its start
O-012 first conditions
O-013 conditions after failure
O-014 conditions after interruption
O-015 builder of another type
O-020 pool, configuration or MachineOSConfig missing
O-021 pool of another name
O-022 stable name of a build, and its tag
O-023 paused pool keeps the name
O-024 labels of a build
O-025 optional inputs of a build
O-026 pull secret that a user names
O-027 extensions and their image
O-028 extension of several packages
O-029 no extensions image
O-030 mounts of optional inputs
O-031 unknown extension
O-032 both forms of registry secrets
O-033 reference with and without a digest
O-034 texts that are well
O-035 instructions without what they need
O-036 unknown instruction
O-037 pairs without an equals sign
O-038 user's text comes last
O-039 push spec and digest
O-040 objects named twice
O-050 start makes Job, ConfigMaps and Secrets
O-051 status of a Job
O-052 stop removes the Job alone
O-053 clean removes Job and what belongs to it
O-054 clean without the MachineOSConfig
O-055 start and end of a build
O-056 three builds, one cleaned
O-057 digest ConfigMap made or updated
O-058 digest ConfigMap cannot be written
O-059 digest ConfigMap written twice
O-060 digest file in all forms
O-070 pool changes without a MachineOSConfig
O-071 MachineOSConfig changes during a build
O-072 configuration changes during a build
O-073 third build while the second runs
O-074 failed build keeps its objects
O-075 change after a failed build
O-076 many changes in turn
O-077 MachineOSConfig deleted with its builds
O-078 failed build and one of an older configuration
O-079 pool changed while the controller was down
O-080 status catches up after a restart
O-081 change that needs no build
O-082 transitions that are made
O-083 transitions that are not made
O-084 MachineOSConfig whose inputs are missing
O-085 image built beforehand is noticed
O-086 image built beforehand beside a build
O-087 build of an image built beforehand
O-088 MachineOSConfig of an image built beforehand
O-089 image built beforehand without a push secret
O-090 annotation of an image built beforehand goes
O-091 events by type and reason
O-092 metrics of builds
O-093 shutdown waits for deletions
O-100 credentials of both forms
O-101 class of an error is kept
O-102 errors of public registries
O-103 registry of the cluster
O-110 whether a pool may go on
O-111 conditions of a pool by the state of its build
O-112 degraded condition goes
O-113 which nodes are updated next
O-114 configuration and image of a node change together
O-115 first boot with the image
O-116 first boot with the base image
O-117 which build is the pool's
O-120 build, roll out, rebuild
O-121 node that joins and leaves
O-122 image of an older build is gone
O-123 repositories and entitlements are used
O-124 change during a build, on a cluster
O-125 interrupted build is asked for again
O-126 base image of OKD
O-127 bad text, then a good one
O-128 Job deleted
O-129 pod deleted
O-130 build deleted while it runs
O-131 controller stopped at both ends of a Job
O-132 failure, fix and a third build in the pool's conditions
O-133 paused pool builds and does not roll out
O-134 two builds of one configuration
O-135 annotation of another configuration
O-136 new node boots the image
O-137 new node and the cluster's registry
O-138 wrong secret is said
O-139 tool of the user's text is on the node
O-140 base image of a configuration and a build
O-141 nodes pull with a secret
O-142 nodes at a time
O-143 many pools together
O-144 configuration without a build
O-145 image deleted between two changes
O-146 copy of the cluster's pull secret
O-147 MachineOSConfig without its objects is deleted
O-148 push spec changed and restored
O-149 text added, changed and removed
O-150 configuration during a build
O-151 extensions later
O-152 entitlement gone
O-153 everything goes with the MachineOSConfig
O-154 leader election
`;

/** Builds for several architectures. */
export const P = `
P-001 pool of one architecture
P-002 pool of two
P-003 multi-architecture payload changes nothing by itself
P-004 node of another pool
P-005 node of a custom pool
P-006 kubelet and label disagree
P-007 node that reports nothing yet
P-008 node that is not ready
P-009 Windows node
P-010 architecture without images
P-011 empty pool
P-012 architectures that a user names
P-013 architectures that machine sets will make
P-014 last node leaves and comes back
P-015 nothing written while nothing changes
P-016 annotation of the pool is restored
P-020 order of containerfiles
P-021 order of architectures
P-022 order of extensions, and of kernel arguments
P-023 text of one architecture
P-024 text for all beside one of its own
P-025 text of its own that says the same
P-026 line ends
P-027 names of secrets
P-028 tag and repository of the push spec
P-029 configuration that changes no image
P-030 base image
P-031 text for an architecture that is not there
P-032 four texts and five
P-033 name that is too long
P-034 every name fits
P-035 fixed keys
P-036 equal keys in every process
P-037 repository that cannot be recorded
P-040 one Job an architecture, on its nodes
P-041 no node takes the Job
P-042 nodes that are all tainted
P-043 architecture joins during a build
P-044 one Job at a time
P-045 objects that Jobs share
P-046 text of one architecture cannot be built
P-047 large pages on arm64
P-048 large pages beside amd64
P-049 base image lacks an architecture
P-050 pod of a Job
P-060 state of a build by those of its architectures
P-061 both architectures in the annotation
P-062 one architecture fails for good
P-063 the other ends first
P-064 fixed text reuses the other
P-065 Job of one architecture deleted
P-066 ended build is not written to
P-067 seven conditions before the end
P-068 related objects
P-069 evicted pod
P-070 pod that hangs
P-071 record deleted during a build
P-072 conflicts at every second write
P-080 what each change builds and pushes
P-081 registry does not answer
P-082 tag of another key
P-083 tag of another architecture
P-084 back to what was built before
P-085 values of the rebuild annotation
P-086 rebuild with a restart at every step
P-087 rebuild keeps the name
P-088 rebuild where tags cannot be moved
P-089 index deleted, images there
P-090 index without the controller's own architecture
P-100 anonymous registry
P-101 password right and wrong
P-102 one token a scope
P-103 token ends during an upload
P-104 token with fewer rights
P-105 challenges of all forms
P-106 identity token
P-107 credentials of the longest match
P-108 mounted blob
P-109 mount refused
P-110 all forms of upload locations
P-111 upload in chunks
P-112 blob of another digest
P-113 redirect to another host
P-114 redirect away from TLS
P-115 altered manifest
P-116 no digest header
P-117 busy and broken registry
P-118 error codes
P-119 manifest that is too large
P-120 delete, and where it is off
P-121 CA of its own
P-122 tags over two pages
P-130 index of two to four images
P-131 Docker list
P-132 both forms together
P-133 any order, same bytes
P-134 second time nothing is pushed
P-135 restart at every step of an index
P-136 image missing
P-137 image of another platform
P-138 two images for one platform
P-139 image inside an index with attestations
P-140 variant of the config
P-141 two repositories of a registry
P-142 two registries
P-143 foreign layer
P-144 registry refuses the OCI index, Docker images
P-145 registry refuses the OCI index, OCI images
P-146 registry answers another digest
P-147 single image is tagged
P-148 registry's garbage collection in between
P-149 readers never meet half an index
P-160 nothing is set while the index is incomplete
P-161 complete index is set
P-162 same digest is not set again
P-163 node that is not covered
P-164 strategy of one image a node
P-165 architecture added, one roll-out
P-166 index covers a node before it joins
P-167 image that another index has
P-168 image that a node runs
P-169 tag that someone moved
P-170 older builds go
P-171 deletion denied
P-172 everything goes with its MachineOSConfig
P-173 payload becomes multi-architecture
P-180 controller killed at random points
P-181 leader killed
P-182 watch that expired
P-183 fifty pools of four architectures
P-184 clocks an hour apart
P-185 there and back within seconds
`;
