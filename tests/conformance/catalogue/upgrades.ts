// Rows about managed upgrades, one line each: M of the Managed Upgrade Operator, N of what it cannot do.

/** The Managed Upgrade Operator. */
export const M = `
M-001 update event without the earlier object
M-002 update event without the later object
M-003 update event that leaves the status alone
M-004 update event about the status
M-005 no UpgradeConfig
M-006 UpgradeConfig cannot be read
M-007 configuration is there
M-008 configuration is absent
M-009 first seen when the cluster was asked already
M-010 first entry cannot be written
M-011 first entry of a new target
M-012 New, hours ahead, with the gate
M-013 New, check before its time fails
M-014 New, hours ahead, without the gate
M-015 New, soon, with the gate
M-016 New, soon, without the gate
M-017 New, steps cannot be built
M-018 New before its window
M-019 New, step to Pending cannot be written
M-020 Pending, validation cannot be built
M-021 Pending, plan is invalid
M-022 Pending, nothing to do
M-023 Pending, policy source cannot be built
M-024 Pending begins
M-025 Pending, policy source has changed
M-026 Pending, step back to New cannot be written
M-027 Pending, policy source fails
M-028 Pending, no policy source
M-029 Pending, step to Upgrading cannot be written
M-030 Pending, first run fails
M-031 Pending before its time
M-032 Pending before its time, status cannot be written
M-033 Pending with minutes to go
M-034 Upgrading, steps cannot be built
M-035 Upgrading goes on
M-036 Upgrading fails
M-037 Upgraded, alerts are looked up
M-038 Upgraded by a minor version
M-039 Upgraded by a patch version
M-040 Failed rests
M-041 Unknown rests
M-050 inside of the window
M-051 before the window
M-052 behind the window
M-053 time that cannot be read
M-060 object is read
M-061 object cannot be read
M-062 upgrade under way by its status
M-063 no upgrade under way by its status
M-064 upgrade under way by the cluster
M-065 no upgrade under way
M-066 refresh without reading the object
M-067 refresh, source fails
M-068 refresh, plan was withdrawn
M-069 refresh, nothing there and nothing wanted
M-070 refresh, first plan
M-071 refresh, another plan
M-072 local source with history
M-073 local source lists
M-074 local source cannot list
M-075 local source without history
M-076 local source, upgraded already
M-077 channel of a group
M-078 channel of no version
M-079 channel without group
M-080 long-support channel, odd minor version
M-081 long-support channel, even minor version
M-082 policy service down
M-083 cluster unknown to the policy service
M-084 address of the policy service
M-090 policy service: cluster
M-091 policy service: policies
M-092 policy service: state
M-093 policy service: new state
M-094 the same through the agent
M-095 client of the policy service
M-096 client, ClusterVersion cannot be read
M-097 client, pull secret cannot be read
M-098 client behind a proxy
M-099 retries and times of the client
M-100 token from cluster and secret
M-101 token, secret cannot be read
M-102 token, secret without its key
M-103 token, secret is no JSON
M-104 token, secret without the service
M-105 token is complete
M-110 invalid start time
M-111 current version cannot be read
M-112 version among the available updates
M-113 version among the conditional updates
M-114 version among neither
M-115 wanted version is none
M-116 current version is none
M-117 older version
M-118 equal version
M-119 newer version
M-120 update graph of the cluster
M-121 default update graph
M-122 well-formed release image
M-123 malformed release image
M-124 version in the graph of a channel
M-125 version not in the graph
M-126 graph answers
M-127 graph fails
M-128 neither version nor image
M-130 ClusterVersion is read
M-131 asked for the version
M-132 conditional update is asked for with its image
M-133 channel first
M-134 nothing asked before
M-135 another version asked before
M-136 operators are well
M-137 operators are degraded
M-138 image, nothing asked before
M-139 image, another asked before
M-140 asked for the image
M-141 preceding version, cluster elsewhere
M-142 preceding version, no history
M-143 preceding version from history
M-144 preceding version, nothing completed
M-150 all steps done
M-151 second step waits
M-152 second step fails
M-160 start told, already asked
M-161 start told, unknown whether asked
M-162 start told
M-163 start cannot be told
M-164 end told
M-165 no capacity told, already asked
M-166 no capacity cannot be told
M-167 delay, switched off
M-168 delay told
M-169 delay cannot be told
M-170 delay, too early
M-171 delay, already asked
M-172 not upgradeable to a minor version
M-173 upgradeable
M-174 nothing said about upgradeable
M-175 all services answer
M-176 a service does not answer
M-177 services, already asked
M-178 capacity, already asked
M-179 capacity, unknown whether asked
M-180 capacity impossible
M-181 capacity ready
M-182 capacity late
M-183 capacity with an invalid time
M-184 capacity not wanted
M-185 capacity not wanted, no time configured
M-186 capacity of other pools only
M-187 removal of capacity of other pools only
M-188 window of the control plane
M-189 window of the workers
M-190 window of no workers
M-191 window, pools cannot be read
M-192 window, workers are done
M-193 window of the workers closes
M-194 control plane, ClusterVersion cannot be read
M-195 control plane done, cannot be told
M-196 control plane done
M-197 control plane late
M-198 control plane in time
M-199 asking the cluster fails
M-200 cluster is asked
M-201 cluster is asked once
M-202 unknown whether asked
M-203 workers, pools cannot be read
M-204 workers, silences cannot be read
M-205 workers done
M-206 workers going on, silenced
M-207 workers going on, not silenced
M-208 workers done, cannot be told
M-209 regulated environment
M-210 other environments
M-220 no critical alert
M-221 critical alerts
M-222 alerts cannot be read
M-223 degraded operators
M-224 no node is cordoned
M-225 node cordoned by the upgrade
M-226 nodes cannot be listed
M-227 node cordoned by hand
M-228 taints, nodes cannot be listed
M-229 a pressure taint
M-230 several pressure taints
M-231 disruption budgets
M-232 budgets that never let go
M-233 budgets cannot be listed
M-234 no validation operator
M-235 namespaces of customers
M-236 validation operator fails
M-240 before, gate off, healthy
M-241 before, ignored alerts
M-242 before, ignored namespaces
M-243 before, version unknown
M-244 before, gate off, unhealthy
M-245 before, gate on, healthy
M-246 before, node cordoned by the upgrade
M-247 before, alerts in New
M-248 before, alerts in Upgrading
M-249 before, operators degraded
M-250 before, capacity impossible
M-251 before, node cordoned by hand
M-252 before, pressure taints
M-253 before, already asked
M-254 before, unknown whether asked
M-255 after, healthy
M-256 after, unhealthy
M-260 valid patterns of pools
M-261 invalid time for capacity
M-262 malformed pattern
M-263 patterns in the whole configuration
M-270 whether capacity is possible
M-271 own MachineSets cannot be listed
M-272 workers cannot be listed, no other pools
M-273 nothing to clone
M-274 clone is made
M-275 clone cannot be made
M-276 clone is not ready
M-277 node not ready for too long
M-278 node not ready yet
M-279 clones are ready
M-280 machines take too long
M-281 machines or nodes cannot be read
M-282 other pools are cloned too
M-283 patterns match nothing
M-284 other pools only
M-285 workers cannot be listed, other pools can
M-286 nothing can be listed
M-287 other pools cannot be listed
M-288 no patterns
M-289 no clone twice
M-290 removal fails
M-291 removal
M-292 machines are left
M-293 nodes of clones are drained
M-294 drain of a clone's node fails
M-295 selector of labels
M-296 selector of other pools
M-300 node of the control plane
M-301 other nodes
M-302 no upgrade under way
M-303 workers are done
M-304 drains only reported
M-305 drain takes too long
M-306 node in use
M-307 node is leaving
M-308 node is gone
M-309 no strategy
M-310 strategy due, not due
M-311 one strategy of two is due
M-312 unknown when cordoned
M-313 strategy fails
M-314 drain failed, no strategies
M-315 drain failed, long waits
M-316 drain failed, short waits
M-317 drain not failed, strategy ahead
M-318 pods of a node, by kind
M-319 budget without selector
M-320 budget by labels
M-321 ignored namespaces
M-322 strategy: delete
M-323 strategy: what it is for
M-324 strategy: finalizers
M-325 strategy: stuck pods
M-326 strategies and namespaces
M-327 pods by several conditions
M-328 finalizers are removed
M-329 pod that is going
M-340 pool cannot be read
M-341 pool is done
M-342 pool is going on
M-343 cordoned, and since when
M-344 the right one of several taints
M-345 no pressure
M-346 pressure of each kind
M-350 silences of the control plane
M-351 silence cannot be made
M-352 silence of the workers
M-353 silence is there
M-354 fewer workers are left
M-355 nothing to end
M-356 only own silences end
M-357 client of Alertmanager
M-360 source from configuration
M-361 told to the log
M-362 states of the policy service
M-363 allowed changes of state
M-364 summaries of service logs
M-365 told before
M-366 told now
M-367 cannot be told
M-368 why it failed
M-369 why it is delayed
M-370 what a check found
M-380 no series without a plan
M-381 series of a plan
M-390 what is installed
M-391 who may not create plans
M-392 plan for later becomes Pending
M-393 invalid plan is measured
M-394 newer build takes over
M-395 nothing to upgrade to
`;

/** What an upgrade by version alone cannot do, and what its operator gets wrong. */
export const N = `
N-001 architecture together with image
N-002 architecture without version
N-003 migration at the current version
N-004 migration that has been done
N-005 plan without architecture after a migration
N-006 asked for the version, not for the architecture
N-007 version completed, architecture not
N-008 completed with the old image
N-009 completed, nodes on their way
N-010 completed, an operator behind
N-011 migration complete
N-012 paused pool before a migration
N-013 payload is refused
N-014 machine of the other architecture does not come
N-015 killed between two steps
N-016 conflict at each step
N-017 told once without Prometheus
N-018 too late to begin
N-019 expired silence
N-020 budget of another namespace
N-021 budget with expressions
N-022 drains only observed
N-023 strategies by their time
N-024 nodes of other pools
N-025 graph for several architectures
N-026 version of an index
N-027 defaults of the configuration
N-028 all problems together
N-029 plan withdrawn at the last moment
N-030 clock set back
N-031 leader killed
N-032 all series of the original
`;
