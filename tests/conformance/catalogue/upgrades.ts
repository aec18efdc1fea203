// Rows about managed upgrades, one line each with its demand in one sentence: M of the Managed Upgrade Operator, N of what it cannot do.

/** The Managed Upgrade Operator. */
export const M = `
M-001 An update event without the earlier object starts no reconcile.
M-002 An update event without the later object starts no reconcile.
M-003 An update event that leaves the status as it is starts a reconcile.
M-004 An update event that changes the status starts no reconcile, since the operator writes it itself.
M-005 Where there is no UpgradeConfig, a reconcile resets the metrics of an upgrade and ends without an error.
M-006 An UpgradeConfig that cannot be read ends the reconcile with an error.
M-007 A reconcile goes on where the operator's ConfigMap is there.
M-008 Without the operator's ConfigMap the reconcile ends with an error and does nothing.
M-009 A plan without history whose version the ClusterVersion was asked for becomes Upgrading with a start time.
M-010 The reconcile fails when the first history entry of a plan cannot be written.
M-011 A target that the history does not have gets an entry New with the version before it.
M-012 A new plan five hours ahead, with the health gate on, is checked, becomes Pending, and is looked at in a minute.
M-013 A new plan becomes Pending although the health check hours ahead fails with an error.
M-014 A new plan five hours ahead, with the health gate off, becomes Pending without a check.
M-015 A new plan one hour ahead becomes Pending without a health check although the gate is on.
M-016 A new plan one hour ahead, with the health gate off, becomes Pending without a check.
M-017 A new plan whose steps cannot be built is an error and stays New.
M-018 A new plan before its window becomes Pending.
M-019 A new plan fails the reconcile when its phase Pending cannot be written.
M-020 A pending plan fails the reconcile when its validation cannot be built.
M-021 A pending plan that is invalid sets the metric of failed validations to 1 and is an error.
M-022 A pending plan that is valid but needs no update starts nothing and is no error.
M-023 A pending plan that is ready fails the reconcile when the source of policies cannot be built.
M-024 A pending plan that is ready becomes Upgrading with a start time, and its steps are run.
M-025 A pending plan that changed at the source of policies becomes New, and no step is run.
M-026 The reconcile fails when a changed plan's phase New cannot be written.
M-027 A pending plan fails the reconcile when the source of policies answers with an error.
M-028 A pending plan goes on where no source of policies is configured.
M-029 No step is run when the phase Upgrading cannot be written, and the reconcile fails.
M-030 When the first run of the steps fails, the error is reported and the phase is the one that the run left.
M-031 A pending plan before its time stays Pending.
M-032 The reconcile fails when the status of a pending plan before its time cannot be written.
M-033 A pending plan with three minutes to go is looked at again in exactly three minutes.
M-034 An upgrade under way whose steps cannot be built fails the reconcile.
M-035 An upgrade under way has its steps run and is looked at again in a minute.
M-036 When a step of an upgrade under way fails, the error is reported and the status is written all the same.
M-037 After an upgrade the alerts that fired between its start and end are looked up, and its result is reported.
M-038 An upgrade from 4.14.0 to 4.15.0 is reported as of the stream y.
M-039 An upgrade from 4.15.1 to 4.15.2 is reported as of the stream z.
M-040 A plan whose phase is Failed does nothing.
M-041 A plan whose phase is Unknown does nothing.
M-050 A plan whose time was ten minutes ago, with a window of 60 minutes, is ready.
M-051 A plan whose time comes in 80 minutes is not ready.
M-052 A plan whose time was ten minutes ago, with a window of five, is ready and has breached its window.
M-053 A plan whose time is not RFC 3339 is neither ready nor has it breached its window.
M-060 The UpgradeConfig of the cluster is read where there is one.
M-061 A failed read of the UpgradeConfig is an error.
M-062 An upgrade counts as under way when the plan's phase or conditions say so.
M-063 No upgrade counts as under way when no condition of the plan says so.
M-064 An upgrade counts as under way when the ClusterVersion says that it is progressing.
M-065 No upgrade counts as under way when neither plan nor ClusterVersion says so.
M-066 Refreshing the plan fails when the existing one cannot be read.
M-067 Refreshing the plan fails when the source of policies does, and leaves the plan as it is.
M-068 A plan that the source of policies does not have any more is deleted, which counts as a change.
M-069 Refreshing changes nothing where there is no plan and the source has none.
M-070 A policy of the source becomes a plan where there is none.
M-071 A policy that differs from the plan replaces it: the old one is deleted and gone before the new is created.
M-072 The local source gives the spec of a plan that has a history.
M-073 The local source lists the plans of the cluster.
M-074 The local source fails when the plans cannot be listed.
M-075 The local source gives nothing for a plan with an empty history.
M-076 The local source gives nothing for a plan that is Upgraded.
M-077 The channel group fast and a version 4.9 give the channel fast-4.9.
M-078 A version that cannot be parsed gives no channel but an error.
M-079 A version without channel group gives the channel stable of its minor version.
M-080 The channel group eus and the odd minor version 4.17 give eus-4.18.
M-081 The channel group eus and the even minor version 4.18 give eus-4.18.
M-082 A policy service that does not answer gives an error that says it is unavailable.
M-083 A cluster that the policy service does not know gives an error of its own kind.
M-084 A valid address of the policy service is taken, and an invalid one is an error.
M-090 The cluster is read from the policy service by a search.
M-091 The upgrade policies of the cluster are read from the policy service.
M-092 The state of an upgrade policy is read from the policy service.
M-093 A new state of an upgrade policy is sent to the policy service.
M-094 Cluster, policies and states are read and sent through the agent in the cluster in the same way.
M-095 The client of the policy service can be built with a pull secret and a ClusterVersion.
M-096 The client of the policy service cannot be built while the ClusterVersion cannot be read.
M-097 The client of the policy service cannot be built while the pull secret cannot be read.
M-098 The client of the policy service goes through the proxy of the environment.
M-099 The client of the policy service tries again a limited number of times, with a time limit.
M-100 The login at the policy service is the cluster's ID with the entry of the pull secret.
M-101 There is no login when the pull secret cannot be read, but an error.
M-102 A pull secret without the key .dockerconfigjson is an error.
M-103 A pull secret whose value is no JSON is an error.
M-104 A pull secret without an entry for cloud.openshift.com is an error.
M-105 A complete pull secret gives a login.
M-110 A plan whose upgradeAt is no time is invalid.
M-111 A plan is not validated while the current version cannot be read, which is an error.
M-112 A plan for a version among the available updates of its channel is valid.
M-113 A plan for a version among the conditional updates is valid.
M-114 A plan for a version among neither available nor conditional updates is invalid.
M-115 A plan whose version is no semantic version is invalid.
M-116 A plan is invalid while the cluster's current version is no semantic version.
M-117 A version older than the current one is recognised as a downgrade, and the plan is invalid.
M-118 The current version is recognised as equal, and the plan is invalid.
M-119 A version newer than the current one is recognised as an upgrade.
M-120 The update graph is asked at the address that the ClusterVersion names.
M-121 The update graph is asked at its default address where the ClusterVersion names none.
M-122 A well-formed reference of a release image passes the check.
M-123 A malformed reference of a release image fails the check.
M-124 A version that the update graph of the plan's channel has passes the check.
M-125 A version that the update graph of the plan's channel does not have fails the check.
M-126 An update graph that answers is read.
M-127 An update graph that answers with status 500 is an error.
M-128 A plan that names neither version with channel nor image is invalid.
M-130 The ClusterVersion is read, and where it is missing that is an error.
M-131 The upgrade counts as commenced when the ClusterVersion desires the plan's version.
M-132 A conditional update is asked for with its version and its image.
M-133 Where the channel differs, it is set first, the ClusterVersion is read again, and then the version is set.
M-134 Where nothing was asked for, the ClusterVersion gets the plan's version.
M-135 Where another version was asked for, the ClusterVersion gets the plan's instead.
M-136 Operators that are well give an empty list of degraded ones.
M-137 Degraded operators are listed by name.
M-138 With a plan by image, a ClusterVersion that was asked for nothing gets the image.
M-139 With a plan by image, a ClusterVersion that was asked for another image gets the plan's.
M-140 The upgrade counts as commenced when the ClusterVersion desires the plan's image.
M-141 The preceding version is the ClusterVersion's desired one while that differs from the plan's.
M-142 The preceding version is the desired one where the cluster is at the plan's version and has no history.
M-143 The preceding version is the first other completed one of the history where the cluster is at the plan's version.
M-144 The preceding version is the desired one where the history has no completed entry.
M-150 When all steps are done, the phase is Upgraded and each condition is True with the time of its end.
M-151 When the second step waits, the phase is Upgrading, the first condition True, the second False, later ones absent.
M-152 When the second step fails, the phase is Upgrading and its condition False with the error.
M-160 The notice of the start is not sent when the upgrade has commenced, and the step is done.
M-161 The step that notifies of the start fails when it is unknown whether the upgrade has commenced.
M-162 The notice of the start is sent before the upgrade has commenced.
M-163 The step fails when the notice of the start cannot be sent.
M-164 The notice of the end is sent, and the step fails when it cannot be.
M-165 The notice that capacity was skipped is not sent once the upgrade has commenced.
M-166 A notice of skipped capacity that cannot be sent is an error.
M-167 No notice of a delay is sent when its trigger is 0.
M-168 An upgrade that started an hour ago, with a trigger of 30 minutes, sends a notice of its delay.
M-169 The step fails when the notice of a delay cannot be sent.
M-170 An upgrade that has started now sends no notice of a delay.
M-171 An upgrade that has commenced sends no notice of a delay.
M-172 An update of the minor version fails, with reason and message, on a cluster that says it is not upgradeable.
M-173 An update of the minor version goes on when the cluster says that it is upgradeable.
M-174 An update of the minor version goes on when the cluster says nothing about being upgradeable.
M-175 The step is done when all external services answer.
M-176 The step fails when one external service does not answer.
M-177 External services are not asked once the upgrade has commenced.
M-178 No capacity is added once the upgrade has commenced.
M-179 The step that adds capacity fails when it is unknown whether the upgrade has commenced.
M-180 Where capacity cannot be added and no other pools are named, that is notified and the step is done.
M-181 When the added capacity is ready, the metric of failed scaling is 0 and the step is done.
M-182 When added capacity is not ready in time, the metric of failed scaling is 1, and the upgrade goes on with a notice.
M-183 With capacity wanted, a time for it of 0 or less is an error.
M-184 Where capacity is not wanted, adding and removing it are skipped.
M-185 Where capacity is not wanted, a missing time for it is no error.
M-186 Where workers cannot be scaled but other pools are named, capacity of these is added.
M-187 Where workers cannot be scaled but other pools are named, capacity of these is removed.
M-188 The silences of the control plane are made and removed, and a failing Alertmanager fails the step.
M-189 While workers are left, their silence is set with their number, and a failing Alertmanager fails the step.
M-190 With no workers left to upgrade, no silence is made for them.
M-191 The step that silences workers' alerts fails when the pools cannot be read.
M-192 When the workers are done, no silence is made for them.
M-193 The silence of the workers is removed, and a failing Alertmanager fails the step.
M-194 The step that waits for the control plane fails when the ClusterVersion cannot be read.
M-195 The step fails when the notice that the control plane is done cannot be sent.
M-196 The control plane is done when the history has the version as Completed, and its timeout metric is 0.
M-197 A control plane that is not done after its window sets its timeout metric to 1 and is waited for.
M-198 A control plane that is not done within its window is waited for without the metric.
M-199 The step that asks the cluster fails when the ClusterVersion cannot be read or written, or the notice not sent.
M-200 The cluster is asked for the plan's target, and the step is done.
M-201 A cluster that was asked already is not asked again.
M-202 The step that asks the cluster fails when it is unknown whether it was asked.
M-203 The step that waits for workers fails when the pools cannot be read.
M-204 The step that waits for workers fails when the state of their silence is unknown.
M-205 When the workers are done, their timeout metric is 0, and a notice says so.
M-206 Workers under way whose silence is active are waited for, with the timeout metric at 0.
M-207 Workers under way without an active silence are waited for, with the timeout metric at 1.
M-208 The step fails when the notice that the workers are done cannot be sent.
M-209 In a regulated environment the FileIntegrity object is annotated after the upgrade.
M-210 In any other environment the FileIntegrity object is not written.
M-220 Without critical alerts the check of alerts passes, and its metrics are 0.
M-221 Critical alerts that fire fail the check of alerts with that reason.
M-222 Alerts that cannot be queried fail the check with that reason.
M-223 The check of operators passes without degraded ones, and fails with them or when they cannot be read.
M-224 The check of nodes passes where no node is cordoned.
M-225 The check of nodes passes where a node is cordoned by the machine config operator.
M-226 The check of nodes fails with that reason when nodes cannot be listed.
M-227 The check of nodes fails with the names of nodes that were cordoned by hand.
M-228 The check of taints fails when nodes cannot be listed.
M-229 A taint of memory, disk or PID pressure fails the check with the node's name.
M-230 Taints of two or three kinds of pressure fail the check.
M-231 The check of disruption budgets fails for one that forbids all evictions and passes without such.
M-232 Budgets with maxUnavailable of 0 or 0%, or minAvailable of 100%, fail the check.
M-233 The check of budgets fails with that reason when they cannot be listed.
M-234 The check of budgets fails where the service of the deployment validation operator is absent.
M-235 A namespace counts as checked exactly when the list of namespaces has it.
M-236 Failing metrics or a failing client of the deployment validation operator fail the check, each with its own reason.
M-240 With the health gate off, a healthy cluster passes the check before an upgrade.
M-241 The query of alerts leaves out those that the configuration ignores.
M-242 The query of alerts leaves out namespaces that the configuration ignores.
M-243 With the health gate off, a version that cannot be read does not fail the check and is called unknown.
M-244 With the health gate off, firing alerts or degraded operators fail the check before an upgrade.
M-245 With the health gate on, a healthy cluster passes the check, and every reason's metric is 0.
M-246 With the health gate on, a node that the upgrade cordoned does not fail the check.
M-247 With the health gate on, alerts fail the check of a new plan, with its notice for a plan ahead.
M-248 With the health gate on, alerts fail the check of an upgrade under way, with its notice.
M-249 With the health gate on, degraded operators fail the check.
M-250 With the health gate on, capacity that cannot be added is notified and fails the check of a new plan.
M-251 With the health gate on, a node cordoned by hand is notified and fails the check of a new plan.
M-252 With the health gate on, each taint of pressure is notified and fails the check of a new plan.
M-253 The check before the upgrade is skipped once the cluster was asked.
M-254 The check before the upgrade fails when it is unknown whether the cluster was asked.
M-255 The check after the upgrade passes on a healthy cluster and clears the metric of late drains.
M-256 The check after the upgrade does not pass while alerts fire or operators are degraded.
M-260 Patterns of pools may be absent, empty, exact names or well-formed globs.
M-261 A time for capacity of 0 or less is refused.
M-262 A malformed pattern of pools is refused by its name, alone and among others.
M-263 The whole configuration is refused for a malformed pattern of pools, and taken with good ones or none.
M-270 Capacity can be added exactly where MachineSets of workers exist and can be listed.
M-271 Adding capacity fails when the temporary MachineSets cannot be listed.
M-272 Adding capacity fails when the workers' MachineSets cannot be listed and no other pools are named.
M-273 Adding capacity fails where there is nothing to clone and no other pool is named.
M-274 A worker's MachineSet is cloned with one replica under its name with the suffix -upgrade, and waited for.
M-275 Adding capacity fails when the clone cannot be created.
M-276 A clone with fewer ready replicas than wanted is waited for.
M-277 A clone whose node is not ready after the time allowed ends in a timeout.
M-278 A young clone whose node is not ready is waited for.
M-279 Adding capacity is done when all clones are ready.
M-280 Clones whose machines do not come in time end in a timeout.
M-281 Adding capacity fails when machines or nodes cannot be read.
M-282 MachineSets of other pools that the patterns match are cloned beside those of the workers.
M-283 Where the patterns match nothing, the workers alone are cloned.
M-284 Where there are no workers, the MachineSets that the patterns match are cloned alone.
M-285 Where the workers cannot be listed, the MachineSets that the patterns match are cloned alone.
M-286 Adding capacity fails when neither workers nor other pools can be listed.
M-287 Where the other pools cannot be listed, the workers alone are cloned.
M-288 Without patterns, capacity is added as if there were no such setting.
M-289 A MachineSet of workers that the patterns match as well is cloned once.
M-290 Removing capacity fails when machines cannot be read or clones not deleted.
M-291 Removing capacity deletes all clones.
M-292 Removing capacity waits while machines of clones are left after their drain.
M-293 Strategies for drains are carried out for each node of a clone that is removed.
M-294 A drain of a clone's node that fails or is late fails the removal with the node's name.
M-295 A label selector is made where there is none and extended where there is one.
M-296 Temporary MachineSets are left out as sources of clones by a NotIn selector.
M-300 Events of nodes of the control plane start no reconcile of drains.
M-301 Events of other nodes start a reconcile of drains.
M-302 No node is inspected while the plan is not Upgrading.
M-303 No node is inspected while the workers are not being upgraded.
M-304 With the strategies off, a long drain raises the alert alone.
M-305 A drain that takes too long sets the metric of late drains to 1.
M-306 A node that is not cordoned has no late drain in the metrics.
M-307 A node that is being deleted has no late drain in the metrics although its drain failed.
M-308 A node that is gone has no late drain in the metrics.
M-309 A drain without strategies does nothing and is no error.
M-310 A strategy is carried out when its wait is over and not before.
M-311 Of two strategies that only is carried out whose wait is over.
M-312 A node whose time of the cordon is unknown is an error.
M-313 A strategy that fails ends the carrying out with its error.
M-314 Without strategies a drain has failed exactly when the time allowed is over.
M-315 With waits of 30 and 60 minutes and eight allowed, a drain has failed after 69 minutes.
M-316 With waits of five and ten minutes and 15 allowed, a drain has failed after 31 minutes.
M-317 A drain has not failed while a strategy is still to come.
M-318 Pods are told apart by disruption budget, node, DaemonSet, finalizers and whether they terminate.
M-319 A disruption budget without selector protects no pod and does no harm.
M-320 A disruption budget protects a pod exactly when its labels match.
M-321 Pods of ignored namespaces, named exactly or by a regular expression, are left out, and all others are not.
M-322 The strategy of deletion deletes pods that do not terminate yet, and a failing list or deletion is an error.
M-323 The strategy of deletion is of use exactly while it has pods to delete, and a failing list is an error.
M-324 The strategy of finalizers removes those of terminating pods, and a failing list or write is an error.
M-325 The strategy for stuck pods deletes those that terminate for too long, and a failing list or deletion is an error.
M-326 Each strategy skips pods of ignored namespaces and considers those of others.
M-327 Pods are filtered by one or several conditions, and when they cannot be listed there are none.
M-328 Removing finalizers from a pod leaves it without any.
M-329 A pod that terminates is not deleted again unless that is asked for.
M-340 A MachineConfigPool that cannot be read is an error.
M-341 A pool all of whose machines are updated is not upgrading.
M-342 A pool with fewer updated machines than machines is upgrading.
M-343 Whether a node is cordoned is reported, and since when.
M-344 Of several NoSchedule taints that of the cordon gives the time.
M-345 A node without taints or with another taint is under no pressure.
M-346 Memory, disk and PID pressure are each recognised by their taint.
M-350 Two silences are made for the control plane where there are none.
M-351 A silence of the control plane that cannot be made is an error.
M-352 A silence is made for the workers where there is none, and a failure of that is an error.
M-353 A silence of the workers with the same comment is not made again.
M-354 When fewer workers are left, their old silence is removed and a new one made.
M-355 Ending the silences is no error where none is active.
M-356 Only the operator's own active silences are removed, and others stay.
M-357 A client of Alertmanager is built with a token from a secret or a token request, by Service or by Route.
M-360 The source of policies is read from the configuration as OCM or LOCAL; none or another is not configured.
M-361 The notifier that writes to the log never fails.
M-362 States of the policy service are translated to the operator's, and unknown ones are recognised.
M-363 A scheduled upgrade may become started, and nothing may follow pending or completed.
M-364 Each known state has a summary for the service log, and an unknown one has none.
M-365 A notice that was sent is not sent again.
M-366 A notice that was not sent is sent, and the metrics say so.
M-367 A notice that cannot be sent is an error and is counted.
M-368 A notice of failure says why by the step that is open: health, services, capacity, or another.
M-369 A notice of delay says why by the step that is open: health, services, capacity, or another.
M-370 The service log entry about a health check has what the check found.
M-380 Without a plan no series of a plan is exposed.
M-381 A plan has one series for each of its conditions and those of its spec and status.
M-390 An installation has its namespace, an available Deployment, its Role and its RoleBinding.
M-391 Administrators of customers may neither create nor delete an UpgradeConfig.
M-392 With the local source, a plan for twelve hours from now is Pending within 60 seconds.
M-393 A plan with an invalid start time sets the metric of failed validations to 1.
M-394 A newer build of the operator takes over in place.
M-395 The suite skips a cluster without available updates or with an existing plan.
`;

/** What an upgrade by version alone cannot do, and what its operator gets wrong. */
export const N = `
N-001 A plan that names architecture and image together is refused when it is written.
N-002 A plan that names an architecture without a version is refused when it is written.
N-003 A plan for Multi at the current version of a cluster of one architecture is valid and has something to do.
N-004 A plan for Multi at the current version of a cluster that is Multi is valid and has nothing to do.
N-005 A plan without architecture on a cluster that is Multi asks for no other architecture.
N-006 A migration does not count as commenced when the version was asked for without the architecture.
N-007 A migration does not count as complete when the version is Completed and the cluster's architecture is empty.
N-008 A migration does not count as complete while the cluster's image is the one from before it.
N-009 A migration does not count as complete while a MachineConfigPool is still updating.
N-010 A migration does not count as complete while an operator publishes its old operator-image.
N-011 A migration whose conditions all hold is complete, and the plan has the condition MultiArchCapable.
N-012 A paused MachineConfigPool blocks a migration before it begins, and is named.
N-013 A payload that the cluster does not accept is waited for with its message, and alerts after its time.
N-014 A test machine of the other architecture that is not ready in 15 minutes fails the step, and its MachineSet is removed.
N-015 After being killed between any two steps the controller goes on without repeating notices, silences or MachineSets.
N-016 A conflict at any write of the status is decided anew with the fresh object, without repeating effects.
N-017 Without Prometheus a notice is still sent exactly once, remembered in the status.
N-018 A plan whose time to begin has passed fails without touching the ClusterVersion.
N-019 An expired silence with the same comment does not keep a new one for the control plane from being made.
N-020 A disruption budget of another namespace does not protect a pod with the same labels.
N-021 A disruption budget whose selector has only matchExpressions protects the pods that it selects.
N-022 With the drain mode Observe an overdue drain is reported, and pods stay.
N-023 Strategies of a drain are carried out in the order of their times, however they are listed.
N-024 A MachineConfigPool that is not the workers' is waited for as well while it updates.
N-025 The update graph is asked for the architecture multi on a cluster of several architectures.
N-026 The version of a release image that is an index is read from its child for the control plane's architecture.
N-027 Optional settings that are missing have their documented defaults.
N-028 A configuration with three errors is refused with all three at once.
N-029 A plan whose policy vanishes at the last moment is deleted or goes back to New, and nothing is begun.
N-030 A clock that is set back during an upgrade ends nothing early and repeats nothing.
N-031 When the leader is killed, another replica goes on once the Lease has run out, and only one at a time writes.
N-032 Every metric of the MUO is exposed with its name and its labels.
`;
