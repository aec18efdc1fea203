// Rows about image builds, one line each with its demand in one sentence: O of the machine config operator's builds, P of
// builds for several architectures.

/** The machine config operator's image builds. */
export const O = `
O-001 The smallest MachineOSConfig, with pool, builder, push secret and push spec, is accepted and stored as given.
O-002 A MachineOSConfig whose push spec names a host with a port is accepted.
O-003 A MachineOSConfig with a malformed push spec is refused.
O-004 A MachineOSConfig without a pull secret for its base image is accepted.
O-005 A MachineOSConfig with its pool's name is accepted, and with another name refused.
O-006 A stored MachineOSConfig with another name than its pool's accepts changes of other fields.
O-007 A stored MachineOSConfig with another name than its pool's refuses a change to a third pool.
O-008 A stored MachineOSConfig with another name than its pool's accepts a change to the pool of its name.
O-009 The smallest MachineOSBuild is accepted.
O-010 The status of a MachineOSBuild whose builder is a Job without naming one is refused.
O-011 The status of a MachineOSBuild accepts an end after its start and refuses one before it.
O-012 The first conditions of a MachineOSBuild are accepted.
O-013 Conditions of a MachineOSBuild that has failed cannot be changed.
O-014 Conditions of a MachineOSBuild that was interrupted cannot be changed.
O-015 A MachineOSConfig with a builder of another type than Job is refused.
O-020 No build is planned while pool, rendered configuration or MachineOSConfig is missing, which is an error.
O-021 No build is planned for a pool that the MachineOSConfig does not name, which is an error.
O-022 The same inputs always give the same name of a build, which is its image's tag.
O-023 A build has the same name whether its pool is paused or not.
O-024 A build carries exactly the labels by which the operator selects it.
O-025 Subscriptions, package keys and package repositories are given to a build where the cluster has them.
O-026 A pull secret that a user names is used for the build.
O-027 With an image of extensions, the build installs their packages from it.
O-028 An extension that stands for several packages has all of them installed.
O-029 Without an image of extensions the build has no step for them.
O-030 Each optional input of a build has its own volume, mount and variable in the Job, alone and with all others.
O-031 An unknown extension is an error.
O-032 A pull secret of the newer form stays as it is, and one of the older form is converted.
O-033 An image reference with a digest is taken, and one without is an error.
O-034 Valid texts of a Containerfile pass: with comments, here-documents, comments alone, or nothing.
O-035 A Containerfile without FROM, or with FROM, RUN, COPY or WORKDIR without argument, is refused for what it lacks.
O-036 A Containerfile with an unknown instruction is refused.
O-037 A Containerfile with ENV or LABEL without an equals sign is refused.
O-038 A valid text of the user comes at the end of the Containerfile.
O-039 An image is recorded by repository and digest without the push spec's tag, and a malformed digest is an error.
O-040 Of objects with the same identity one is kept.
O-050 Starting a build makes its Job, ConfigMaps and Secrets, and the build is Prepared.
O-051 The status follows the Job: running, succeeded, failed fewer than four times, failed four times, or deleted.
O-052 Stopping a build removes its Job and keeps the other objects, also when repeated.
O-053 Cleaning a build removes its Job and all objects made for it alone.
O-054 A build can be cleaned after its MachineOSConfig is gone.
O-055 A build that succeeds has a start and a later end in its status.
O-056 Cleaning one of three builds leaves the objects of the two others.
O-057 The ConfigMap with a digest is created where it is missing and updated where it exists.
O-058 A ConfigMap with a digest that cannot be read or updated is an error.
O-059 Writing the ConfigMap with a digest twice gives the same as once.
O-060 A digest is read from its file without white space, and an empty or missing file is an error.
O-070 A pool without MachineOSConfig that changes has no build.
O-071 A MachineOSConfig that changes during a build starts a new one and deletes the old one with its objects.
O-072 A rendered configuration that changes during a build starts a new one and deletes the old one with its objects.
O-073 A third build that starts while the second runs deletes the second and leaves the first, which succeeded.
O-074 A failed build keeps all of its objects.
O-075 A change after a failed build starts a new one and deletes the failed one with its objects.
O-076 Each of many changes in turn has its own build.
O-077 Deleting a MachineOSConfig with several builds removes all of them with their objects.
O-078 A failed build beside one of an older configuration does not start build after build.
O-079 A pool that changed while the controller was down is built after its restart.
O-080 The status of a build catches up with its Job after a restart of the controller.
O-081 A change that needs no new image gives a build object with the status of the last one, and no Job.
O-082 The status is written from initial to running or ended, from running to ended, and from Prepared to Building.
O-083 The status is not written from ended to anything, nor back to an earlier state, nor to the same.
O-084 A MachineOSConfig with a missing secret or a malformed push spec is reported as such, and a valid one is not.
O-085 The annotation of an image built beforehand is noticed on a MachineOSConfig, and its absence too.
O-086 An image built beforehand stands for the first build, and is ignored where the pool has a build.
O-087 The build that stands for an image built beforehand has label, owner, digest and success in its conditions.
O-088 The MachineOSConfig of an image built beforehand gets annotation and status for it, and a condition that says so.
O-089 An image built beforehand without the push secret is an error.
O-090 The annotation of an image built beforehand is removed once its status is there, and not before.
O-091 Each stage of a build has an event of its own type and reason.
O-092 Builds have metrics of states, pushes, interruptions, waits and durations, each counted once.
O-093 At shutdown the controller waits for deletions under way and says which are left.
O-100 Credentials of both forms can be used to inspect and delete images.
O-101 An error of an image keeps its class, such as denied or absent, when it is passed on.
O-102 Errors of five public registries, for repositories, tags and digests, are recognised as absent or denied.
O-103 In the cluster's own registry an image is inspected, deleted, and then not found.
O-110 Whether a pool may go on follows from its build, its image and the state of both.
O-111 The conditions of a pool, paused or not, follow from the state of its build.
O-112 The degraded condition of image builds is cleared when a build is active or successful, or there is none.
O-113 Which nodes are updated next follows from their present and desired images and their readiness.
O-114 The desired configuration and image of a node change together.
O-115 With an external registry a new node boots with the built image, with a single restart.
O-116 With the cluster's own registry, or before the first node was updated, a new node boots with the base image.
O-117 The build of a pool is the one that its annotation names, unless that is missing or of another configuration.
O-120 A MachineOSConfig is built, its image rolled out to the nodes, and rebuilt under the same name by an annotation.
O-121 A node that joins the pool runs the built image with its kernel, and reverts both when it leaves.
O-122 A build whose image is gone is built again under its name, and one whose image is there is reused.
O-123 Package repositories and subscriptions that are given to a build are used by it.
O-124 On a cluster, a change during a build deletes the old build, and the new one goes on.
O-125 An interrupted build starts again with another Job when the annotation asks for it.
O-126 A build on the base image of OKD succeeds.
O-127 After a text that cannot be built a mended one succeeds, and the failed build is removed.
O-128 A build whose Job is deleted is interrupted.
O-129 A build whose pod is deleted is not interrupted, and its Job tries again.
O-130 A build that is deleted while it runs is made again.
O-131 A controller stopped before the start of a Job and before its end catches up, and the MachineOSConfig gets the digest.
O-132 The pool's condition shows a failure with names, then the running mend, then its success.
O-133 A paused pool is built, and nodes take the image only after the pause.
O-134 With two builds of one configuration a new node gets the image of the second, which is annotated.
O-135 An annotation that names the build of another configuration is removed, and the pool goes on.
O-136 With an external registry a node that is added during a roll-out boots the image without a further restart.
O-137 With the cluster's own registry a new node joins on the base image and then takes the built one.
O-138 A wrong pull or push secret makes the ClusterOperator machine-config degraded until the MachineOSConfig is gone.
O-139 A tool that the user's text installs is there on the node.
O-140 A base image from a configuration and a MachineOSConfig take effect together, and without the first a build has only the second.
O-141 Nodes pull the image with the configured secret.
O-142 A pool's limit of nodes at a time is kept during the roll-out, in order.
O-143 Many pools that opt in together are all built and all cleaned up.
O-144 A configuration of files or keys alone needs no build, and its files are on the nodes.
O-145 An image deleted between two changes is built again when its configuration returns, and one that is there is not.
O-146 Without a pull secret the copy of the cluster's is used.
O-147 Deleting a MachineOSConfig that matches no objects does no harm.
O-148 A changed push spec is built anew, and when it is restored the first build is reused.
O-149 A text that is added and changed is built each time, and when it is removed the first build is reused.
O-150 A kernel argument that comes during a build starts a new build, and is applied on the nodes.
O-151 Extensions that are added after the opt-in are installed.
O-152 When the secret with the subscription is gone, the error of the build's pod is reported.
O-153 Deleting the MachineOSConfig removes builds, ConfigMaps, Secrets and copies of subscriptions.
O-154 The service acquires the lock of its leader when it starts.
`;

/** Builds for several architectures. */
export const P = `
P-001 A pool of three amd64 nodes is built for amd64 alone, without an index.
P-002 A pool with nodes of amd64 and arm64 is built for both, and its annotation and a ConfigMap say so.
P-003 A multi-architecture payload alone does not make a pool of one architecture build more.
P-004 The architecture of a node of another pool does not count.
P-005 A node of a custom pool that is also a worker counts for the custom pool alone.
P-006 Where kubelet and label disagree about the architecture the kubelet counts, and an event warns of it.
P-007 A node that reports no architecture yet is ignored until it does.
P-008 A node that is not ready counts.
P-009 A Windows node does not count.
P-010 An architecture for which there are no images is reported and does not count.
P-011 An empty pool is built for the architectures of the workers, or else for that of the control plane.
P-012 Architectures that a user names in any case and order are taken, and an invalid one makes the whole list ignored.
P-013 Architectures that MachineSets will make count under a multi-architecture payload and not otherwise.
P-014 When the last node of an architecture leaves and comes back, the set stays and nothing is built.
P-015 Nothing is written while the set of architectures stays the same.
P-016 The annotation of the pool is restored when a user changes it.
P-020 The order of Containerfiles changes neither keys nor name of a build.
P-021 The order of architectures changes neither keys nor name of a build.
P-022 The order of extensions does not change a build, and that of kernel arguments does.
P-023 Another text for arm64 changes the key of arm64 and the name, and no other key.
P-024 Another text for all architectures changes only the keys of those without a text of their own.
P-025 A text for arm64 that says the same as that for all changes no key.
P-026 Line ends of another system change no key.
P-027 Other names of secrets change no key.
P-028 Another tag in the push spec changes nothing, and another repository the name but no key.
P-029 A configuration that changes no image changes the name but no key.
P-030 Another base image changes the keys of all architectures.
P-031 A text for an architecture that no node has is ignored and reported.
P-032 A MachineOSConfig with four texts is accepted, and with five refused.
P-033 A MachineOSConfig whose name is too long is reported before any object is made.
P-034 Every generated name is valid for DNS and has 63 characters at most, every tag 128.
P-035 Fixed inputs give fixed keys, so that a change of how they are written is noticed.
P-036 Two processes give the same keys for the same inputs.
P-037 A push spec with more parts than can be recorded fails the build with PushSpecNotRecordable.
P-040 A pool of two architectures has two Jobs, whose pods run only on nodes of their own architecture.
P-041 A Job that no node can take waits while the other goes on, and fails after its time with NoNodeForArchitecture.
P-042 A Job tolerates the taints of its nodes where all of them are tainted, unless that is turned off.
P-043 An architecture that joins during a build makes a new one, which takes over the running Jobs.
P-044 With one Job at a time, Jobs run one after the other in the order of their architectures.
P-045 The Jobs of a build share their ConfigMaps, and each has one for its own Containerfile.
P-046 A text that is invalid for arm64 alone fails the build without any Job and names arm64.
P-047 A kernel with large pages is allowed for arm64 on a controller of amd64.
P-048 A kernel with large pages fails amd64 at once in a pool of both architectures.
P-049 A base image for amd64 alone fails arm64 with BaseImageLacksArchitecture.
P-050 The pod of a Job has node selector, deadline, number of attempts, tag and build arguments of its architecture.
P-060 The state of a build follows from those of its architectures, and it succeeds only when all did and the index is published.
P-061 While one architecture is done and the other builds, the build is Building, and its annotation shows both.
P-062 When one architecture fails four times, the build fails, no index is published, and the pool's condition names the architecture.
P-063 When one architecture fails, the other is let end before the build fails.
P-064 After a mended text the architecture that had succeeded is reused, and one Job runs.
P-065 A deleted Job of one architecture interrupts the build after the other has ended.
P-066 A build that has ended is not written to.
P-067 A build has seven conditions, and its own two are set before it ends.
P-068 The related objects of a build may name its Jobs and ConfigMaps.
P-069 An evicted pod neither counts as an attempt nor interrupts the build.
P-070 A pod that hangs fails its build with DeadlineExceeded after its time.
P-071 A record that is deleted during a build comes back from Jobs, digests and tags, without a second Job.
P-072 Conflicts at every second write lose no result of an architecture.
P-080 Each kind of change creates exactly the Jobs that it needs.
P-081 While a registry does not answer, nothing is built and nothing deleted, and it is asked again.
P-082 An image under the tag of an architecture that carries another key is not reused, and an event says so.
P-083 An image under the tag of an architecture that is for another one is not reused.
P-084 Going back to what was built before starts no Job and gives the same digest of the index.
P-085 The rebuild annotation selects all, named or failed architectures by its value, and warns of unknown ones.
P-086 A rebuild during which the controller is killed at any step happens exactly once.
P-087 A rebuilt build keeps its name, has a new UID, and loses the annotation when it starts.
P-088 Where tags cannot be moved, a rebuild uses and records a tag with a suffix.
P-089 An index that was deleted in the registry is published again with the same digest, without a Job.
P-090 An index without the controller's own architecture counts as present and is not built again.
P-100 Images are pushed to and pulled from a registry without login.
P-101 With the right password a push succeeds, and with a wrong one it is denied.
P-102 A push asks for one token for each set of rights and keeps it until shortly before its end.
P-103 A token that ends during an upload is renewed once, and the upload succeeds.
P-104 A token with fewer rights is reported as denied and not asked for again and again.
P-105 Challenges with quoted commas, several schemes and extra spaces are read correctly.
P-106 An identity token is traded for a token by POST.
P-107 Of credentials for host, namespace and repository those with the longest match are used.
P-108 A blob that the registry already has in another repository is mounted, and no byte of it is sent.
P-109 When a mount is refused, the upload that it began is used or cancelled.
P-110 Upload locations may be relative, absolute, or have a query.
P-111 An upload in chunks heeds the registry's limits and resumes where the registry asks for it.
P-112 A blob that does not fit its digest is refused for good.
P-113 A redirect to another host is followed without the credential.
P-114 A redirect from https to http is refused.
P-115 A manifest that was changed on its way is refused by its digest.
P-116 Where the registry states no digest, the manifest is read and hashed.
P-117 Busy, broken and interrupted answers are tried again within a limit and count as transient.
P-118 Each error code, and oddities of known registries, are read as absent, denied, transient or permanent.
P-119 A manifest of more than 4 MiB is refused.
P-120 Images are deleted by digest, and a registry that deletes nothing is tolerated.
P-121 A registry with an authority of its own is trusted with its certificate and refused without.
P-122 A list of tags over two pages is read completely.
P-130 Two to four images become an OCI index in fixed order in which a client finds the image of each platform.
P-131 Images with Docker manifests become a Docker manifest list.
P-132 Images of both forms together become an OCI index.
P-133 Images in any order give the same bytes and digest of the index.
P-134 Assembling an index a second time pushes nothing.
P-135 After being stopped at any step the assembly completes, and there is one index.
P-136 When an image is missing, no index is made, and its architecture is built again.
P-137 An image whose config names another architecture or operating system is refused.
P-138 Two images for one platform are refused.
P-139 Of an index with attestations its one image is taken.
P-140 A variant in the config of an image is copied to its platform in the index.
P-141 Between two repositories of a registry blobs are mounted, and manifests stay the same bytes.
P-142 Between two registries images are streamed with equal digests and bounded memory.
P-143 A foreign layer keeps its descriptor and is not uploaded.
P-144 Where a registry refuses OCI indexes, Docker images become a Docker list.
P-145 Where a registry refuses OCI indexes, OCI images fail with IndexUnsupported.
P-146 A registry that answers another digest than was pushed fails the assembly with DigestMismatch.
P-147 For one architecture the tag is that of its image, and there is no index.
P-148 The registry's garbage collection between the push of images and of the index leaves the images.
P-149 Whoever reads the tag at any time gets a complete index.
P-160 While the index is incomplete, the image of the MachineOSConfig stays as it is.
P-161 With a complete index the MachineOSConfig gets its digest, with the build and the generation that it is of.
P-162 The same digest is not written to the MachineOSConfig again.
P-163 A node that the published image does not cover is named in a condition.
P-164 With one image for each node, a changed arm64 image leaves the desired image of amd64 nodes.
P-165 With one index, an architecture that is added changes the index once, which a condition says.
P-166 An index for an architecture that MachineSets announce covers its node before it joins, and nothing is built then.
P-167 Deleting a build keeps an image that a live index has, and deletes its own index.
P-168 An image that a node runs is kept when its build is deleted.
P-169 A tag that someone moved is kept.
P-170 Of more builds than are kept the oldest is removed, its index before its images.
P-171 A denied or unsupported deletion is tolerated and reported once.
P-172 Deleting a MachineOSConfig removes all its objects and its images.
P-173 A payload that becomes multi-architecture builds all pools again, for the architectures of their nodes alone.
P-180 A controller killed at random moments, with 200 seeds, ends with the objects and digests of an undisturbed one.
P-181 When the leader is killed, another replica takes over within the Lease, without a second Job.
P-182 After an expired watch or a restarted API server everything is read again, without a second Job.
P-183 Fifty pools of four architectures are all built, with as many writes as there are changes.
P-184 Clocks that are an hour ahead or behind leave the end of each build after its start.
P-185 A MachineOSConfig changed there and back within seconds ends at the first state, without Jobs left of the second.
`;
