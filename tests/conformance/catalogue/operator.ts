// Rows of the operator document, whose ids are bare numbers, one line each: id, and in one sentence what it demands.

export const OPERATOR = `
1 A plugin whose field enabled is true counts as enabled.
2 A plugin whose field enabled is false does not count as enabled.
3 The name of the base plugin is BasePlugin.
4 The name of the scoring plugin is NodeAffinityScoring.
5 The name of the plugin for exec format errors is execFormatErrorMonitor.
6 A condition that holds has the status True.
7 A condition that does not hold has the status False.
8 The sentence of a condition that holds has no negation.
9 The sentence of a condition that does not hold has the word not.
10 Trimming and capitalising an empty text gives an empty text.
11 Trimming and capitalising one letter gives it as a capital.
12 Trimming and capitalising a word gives it with a capital letter.
13 Trimming and capitalising a text removes the spaces around it and keeps those inside.
14 While the config is being deleted, the status is available and deprovisioning, and no webhook may be made.
15 When controller, webhook and webhook configuration are there and up to date, the status is available and nothing else.
16 Without the webhook configuration the status is unavailable, progressing and degraded, and the configuration may be made.
17 Without the controller the status is unavailable, progressing and degraded, and no webhook configuration may be made.
18 While the webhook rolls out, the status is available and progressing, and the webhook configuration may be made.
19 An object that the cache has is taken from there without asking the API server.
20 An object that the cache has is trusted although the API server has one with another UID.
21 An object that the cache does not have is taken from the API server.
22 An object without UID in the cache is taken from the API server.
23 Both look-ups, in the cache and at the API server, use the name and namespace that were asked for.
24 An object that is nowhere is reported as not found.
25 When the API server does not answer, the error says so instead of not found.
26 When the cache fails, its error is reported without asking the API server.
27 Without a reader of the API server, an object that the cache does not have is not found.
28 Without a reader of the API server, an object without UID in the cache is not found.
29 The cluster config is read from the API server by its name cluster, without namespace.
30 A changed generation of the cluster config is acted on.
31 The beginning deletion of the cluster config is acted on.
32 Changed finalizers of the cluster config are acted on.
33 A change of conditions alone is not acted on.
34 A change of labels alone is not acted on.
35 A change of annotations alone is not acted on.
36 An update of the cluster config that changes nothing is not acted on.
37 Creation and deletion of the cluster config are always acted on.
38 A deletion time of the cluster config that moves is acted on.
39 The outcome "not ready, again in five seconds" keeps its words and is recognised as a request to run again.
40 The outcome "waiting for gates, again in ten seconds" keeps its words and is recognised as a request to run again.
41 An ordinary error is not recognised as a request to run again.
42 A status that asks to run again in five seconds wins over an error beside it.
43 A failed status and an error together are an error.
44 An error without a status result is an error.
45 Neither a status result nor an error is success.
46 A status that asks to run again in five seconds wins over two errors beside it.
47 Two identical Services compare as equal.
48 A Service without type equals one of type ClusterIP.
49 Fields of a Service that the API server fills in are ignored in the comparison.
50 Services whose port numbers differ are different.
51 Services whose port names differ are different.
52 Services whose target ports differ are different.
53 Services whose protocols differ are different.
54 Services with different numbers of ports are different.
55 Services whose selectors differ are different.
56 Services whose types differ are different.
57 Services that both have a null selector are equal.
58 A Service without protocol equals one with the protocol TCP.
59 A node port that the API server chose is ignored in the comparison.
60 Applying a Deployment twice creates it, and then changes nothing.
61 A Deployment that others scaled from two to five replicas is set back to two.
62 Applying a DaemonSet twice creates it, and then changes nothing.
63 Applying a Service twice creates it, and then changes nothing.
64 A port of a Service that others changed is set back.
65 The memory of applied generations is empty after a reset and filled after an object was applied.
66 The server's minor version 32 is read as 32.
67 The server's minor version 31.alpha.3 is read as 31.
68 The server's minor version 30+rc1.1 is read as 30.
69 The server's minor version 29+build1.sha123abc is read as 29.
70 The server's minor version 28-1beta2.3 is read as 28.
71 The server's minor version beta.1 is an error.
72 The server's minor version xyz is an error.
73 An empty minor version of the server is an error.
74 A cluster config whose name is not cluster is refused.
75 A controller that others scaled is scaled back, and the config reports a roll-out until it is ready.
76 When the webhook's Deployment is deleted, the webhook configuration goes until the Deployment was made again and is ready.
77 When the controller's Deployment is deleted, its finalizer is removed, and it is made again.
78 The webhook's Service is made again when someone deletes it.
79 The webhook's ClusterRole is made again when someone deletes it.
80 The webhook's ClusterRoleBinding is made again when someone deletes it.
81 The controller's Role is made again when someone deletes it.
82 The controller's RoleBinding is made again when someone deletes it.
83 The webhook's ServiceAccount is made again when someone deletes it.
84 The port of the webhook's Service is set back when someone changes it.
85 The failurePolicy of the webhook configuration is set back to Ignore when someone changes it.
86 A new logVerbosity reaches the arguments of both Deployments, and the config reports their roll-out.
87 The namespaceSelector of the cluster config is copied to the webhook configuration.
88 A cluster config gets the finalizer for pod placement.
89 When the cluster config is deleted, nothing that was made for it stays.
90 A pending pod with a foreign gate does not hold the deletion of the cluster config.
91 A pending pod with the gate holds the deletion of the cluster config until it is gone.
92 A cluster config that is deleted as soon as it was created leaves nothing and no finalizer.
93 When everything is ready, the config is Available and no other condition is True.
94 Without replicas of the controller the config is not Available, is Degraded, and the webhook configuration is absent.
95 Without replicas of the webhook the config is not Available, is Degraded, and the webhook configuration is absent.
96 With some replicas of each the config is Available but rolling out, and the webhook configuration stays.
97 After a change of logVerbosity the config reports that both Deployments roll out.
98 After the roll-out of a new logVerbosity the config is Available, and no other condition is True.
99 When the config is deleted at the end of all transitions, everything made for it goes.
100 A cluster config with a negative weight is refused as Invalid.
101 A cluster config with the weight 0 is refused as Invalid.
102 A cluster config with the weight 200 is refused as Invalid.
103 A cluster config with an unknown architecture is refused as Invalid.
104 A cluster config that scores without platforms is refused as Invalid.
105 A cluster config with an empty architecture is refused as Invalid.
106 A fallbackArchitecture of amd64 is accepted.
107 A fallbackArchitecture of arm64 is accepted.
108 A fallbackArchitecture of ppc64le is accepted.
109 A fallbackArchitecture of s390x is accepted.
110 An empty fallbackArchitecture is accepted.
111 A fallbackArchitecture with an unknown word is refused as Invalid.
112 A fallbackArchitecture of one space is refused as Invalid.
113 A fallbackArchitecture in capital letters is refused as Invalid.
114 A fallbackArchitecture of arm32 is refused as Invalid.
115 A fallbackArchitecture of punctuation marks is refused as Invalid.
116 A fallbackArchitecture of a hundred letters is refused as Invalid.
117 With monitoring of exec format errors, config and Deployment of the handler have the finalizer for its events.
118 When monitoring is turned off, errored events are deleted, and others keep the config's finalizer until they are gone.
119 The DaemonSet of monitoring is made only when its ServiceAccount has pull secrets.
120 A DaemonSet of monitoring that was made stays when its ServiceAccount loses its pull secrets.
121 The clean-up deletes events labelled as errored, keeps the others, and counts both.
122 The clean-up of an empty list of events counts none.
123 An event without labels counts as not errored in the clean-up.
124 A namespace config is refused while there is no cluster config.
125 Deleting the cluster config is refused while a namespace config exists, and what was made for it stays.
126 When the last namespace config is deleted, the cluster config loses the finalizer for them, and its webhook stays.
127 After the last namespace config is gone, the cluster config can be deleted, and what was made for it goes.
128 The first namespace config gives the cluster config the finalizer for them.
129 The cluster config loses the finalizer for namespace configs when the last of them is gone.
130 A namespace config with a negative weight is refused as Invalid.
131 A namespace config with the weight 0 is refused as Invalid.
132 A namespace config with the weight 200 is refused as Invalid.
133 A namespace config with an unknown architecture is refused as Invalid.
134 A namespace config that scores without platforms is refused as Invalid.
135 A namespace config with an empty architecture is refused as Invalid.
136 A namespace config that names an architecture twice is refused.
137 A second namespace config with the same priority in the namespace is refused.
138 An update of a namespace config to a priority that another has is refused.
139 The priority of a deleted namespace config can be used again.
140 The cluster config in memory follows the one of the API server as it is created and deleted.
141 An exec format error is stored as exactly one event object with pod, namespace, container and node in its status.
142 The status of an event object is written although two writes met a conflict.
143 After five conflicts on its status an event object is deleted again, and that is an error.
144 An event object that vanished before its status was written is an error after one attempt.
145 The handler posts a Kubernetes event ExecFormatError that names container and architecture about the pod, and deletes the event object.
146 The handler labels the pod with multiarch.openshift.io/exec-format-error=true and deletes the event object.
147 An event object about a pod that is gone is deleted.
148 An event object about a node that is gone is deleted, and its pod has neither label nor event.
149 An error of a container that the pod's status does not show is reported as of an unknown container.
150 An event object that names another node than its pod's is deleted, and the pod has neither label nor event.
151 Event objects outside of the operator's namespace can be created and deleted.
152 A valid status of an event object is accepted and reads back as written.
153 An event object about a missing node that a finalizer holds is labelled node-not-found, and goes with the finalizer.
154 An error with a malformed container ID is reported as of an unknown container, and the event object is deleted.
155 An event object of another node that a finalizer holds is labelled node-not-found, and its pod is not labelled.
156 The status of an event object with a nodeName of more than 253 characters is refused.
157 The status of an event object with an exclamation or question mark in its nodeName is refused.
158 The status of an event object whose nodeName begins or ends with a dash is refused.
159 The status of an event object with dots in its nodeName is accepted.
160 The status of an event object with a podName of more than 253 characters is refused.
161 The status of an event object with an exclamation mark or capitals in its podName is refused.
162 The status of an event object with dots, dashes and digits in its podName is accepted.
163 The status of an event object whose podName begins with a dash or ends with a dot is refused.
164 The status of an event object with a podNamespace of 75 characters is refused.
165 The status of an event object with signs, capitals or dots in its podNamespace is refused.
166 The status of an event object with dashes and digits in its podNamespace is accepted.
167 The status of an event object whose podNamespace begins or ends with a dash is refused.
168 The status of an event object whose container ID is not 64 digits long is refused.
169 The status of an event object whose container ID has other signs or a single slash is refused.
170 The name of a container is found by its ID in the form of CRI-O.
171 The name of a container is found by its ID in the form of containerd.
172 An unknown container ID gives no name.
173 A malformed container ID gives no name.
174 An empty container ID gives no name.
175 A cluster config that is created as v1beta1 takes effect and can be read as v1alpha1.
176 A cluster config that is created as v1alpha1 takes effect and can be read as v1beta1.
177 A pod in a namespace that the selector excludes has no gate label and no affinity.
178 A pod in a namespace that the selector does not exclude is placed, labelled and released.
179 A pod in a namespace that the selector does not include is not processed.
180 A pod in a namespace that the selector includes is placed, without preferences while scoring is off.
181 A pod whose nodeSelector selects the role control-plane is labelled not-set and gets no affinity.
182 A pod whose nodeSelector selects the role master is labelled not-set and gets no affinity.
183 A cluster config with two plugins shows neither in v1alpha1, and keeps both in v1beta1 when v1alpha1 is written.
184 A cluster config made as v1alpha1 has no plugins and no fallback architecture in v1beta1.
185 In v1alpha1 the fallback architecture is an annotation, which goes when the field is emptied in v1beta1.
186 A cluster config that names an architecture twice is refused.
187 With scoring off, a pod that requires an architecture is never gated and keeps its affinity.
188 With empty plugins a pod is gated, processed and released.
189 With scoring on, a pod whose image does not exist is released after five failures, with preferences alone.
190 With a fallback architecture, a pod whose image does not exist requires the fallback after five failures and is labelled so.
191 A cluster config deleted after it got its finalizer leaves nothing that was made for it.
192 A cluster config with monitoring makes all objects of it, and its deletion removes them within three minutes.
193 When monitoring is turned off, its objects go within three minutes, and the cluster config stays.
194 A cluster config with monitoring that is deleted at once leaves nothing within two minutes.
195 On amd64, a script that executes a file of zeros gets an event ExecFormatError within three minutes.
196 On arm64, a script that executes a file of zeros gets an event ExecFormatError within three minutes.
197 On s390x, a script that executes a file of zeros gets an event ExecFormatError within three minutes.
198 On ppc64le, a script that executes a file of zeros gets an event ExecFormatError within three minutes.
199 On amd64, an image for another architecture gets an event ExecFormatError, and no event object stays.
200 On arm64, an image for another architecture gets an event ExecFormatError, and no event object stays.
201 On s390x, an image for another architecture gets an event ExecFormatError, and no event object stays.
202 On ppc64le, an image for another architecture gets an event ExecFormatError, and no event object stays.
203 When monitoring is turned off with an event pending, the daemon goes first and the rest when the event is gone.
204 When the config is deleted with an event pending, the daemon goes first and the rest when the event is gone.
205 A namespace config is refused on a cluster that has no cluster config.
206 Deleting the cluster config is refused until the last namespace config is gone, which the refusal names.
207 The finalizer for namespace configs comes to the cluster config with the first and goes with the last of them.
208 With cluster scoring off, a matching namespace config makes its pod placed and preferred as it says.
209 With cluster scoring off, a pod that the namespace config does not select is placed without preferences.
210 With cluster scoring off, two matching namespace configs both give their preferences, the higher priority first.
211 A namespace config that names an architecture twice is refused.
212 A second namespace config with the same priority in the namespace is refused.
213 An update of a namespace config to a priority that another has is refused.
214 The priority of a deleted namespace config can be used again.
215 No mode flag or two of them end the program with an error, and each mode has a Lease of its own.
216 The operator labels its namespace, and chooses security context constraints and SELinux type by the cluster's version.
217 All objects that the operator makes, with their security context and webhook fields, are rendered exactly.
218 ServiceMonitor and PrometheusRule are made where their API exists, left out elsewhere, and removed with the config.
219 Conditions say why in reason and message, and their transition time moves only when the status flips.
220 While the config is deleted, its conditions say that it is deprovisioning.
221 On deletion the webhook goes before gated pods are waited for, and the controller goes last.
222 Conversion keeps plugins, drops an empty annotation, converts several objects at once, and refuses a malformed body.
223 The namespace config's webhook handles missing cluster configs, absent priorities, disabled plugins, deletions and other namespaces.
224 The cluster config's webhook refuses doubles also while scoring is off, and allows deletion without namespace configs.
225 The eBPF program is accepted by the kernel, reports exactly exec format errors, and falls back to the parent process.
226 A cgroup path of each runtime and driver gives the pod's UID and container, and that of no pod gives none.
227 When the container runtime does not know a container, the next candidate is asked, and an error drops the report.
228 Reports of exec format errors are limited by rate and number, also while the daemon is shutting down.
229 The handler counts and survives unusual events: empty status, init containers, and pods or containers that it does not find.
230 Metrics that alerts read are present at 0 before the first event.
231 The operator posts an event about the config when it creates or repairs an object.
232 With monitoring on, a handler Deployment that somebody deletes is released from its finalizer and made again.
`;
