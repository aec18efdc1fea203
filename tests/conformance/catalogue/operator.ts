// Rows of the operator document, whose ids are bare numbers, one line each.

export const OPERATOR = `
1 plugin on
2 plugin off
3 name of the base plugin
4 name of the scoring plugin
5 name of the exec-format plugin
6 true as a condition status
7 false as a condition status
8 word of negation, true
9 word of negation, false
10 capitalise nothing
11 capitalise a letter
12 capitalise a word
13 capitalise and trim
14 status while deprovisioning
15 status when all is ready
16 status without webhook configuration
17 status without controller
18 status while the webhook rolls out
19 cached object
20 cached object with an old UID
21 object only the API has
22 cached object without UID
23 one key for both look-ups
24 object nowhere
25 API unavailable after the cache
26 cache unavailable
27 no API reader
28 no API reader, cached without UID
29 singleton from the API
30 event: generation
31 event: deletion begins
32 event: finalizers
33 event: conditions only
34 event: labels only
35 event: annotations only
36 event: nothing changed
37 event: created or deleted
38 event: deletion time moved
39 requeue when not ready
40 requeue while ungating
41 error that is no requeue
42 requeue beside an error
43 two errors
44 error alone
45 no error
46 requeue beside two errors
47 equal Services
48 default type of a Service
49 fields the server fills in
50 port number differs
51 port name differs
52 target port differs
53 protocol differs
54 number of ports differs
55 selector differs
56 type differs
57 null selectors
58 default protocol
59 node port of the server
60 Deployment applied twice
61 Deployment changed by others
62 DaemonSet applied twice
63 Service applied twice
64 Service changed by others
65 memory of generations
66 minor version
67 minor version, alpha
68 minor version, candidate
69 minor version, build
70 minor version, beta
71 minor version that is no number
72 minor version of letters
73 empty minor version
74 config of another name refused
75 controller scaled by others
76 webhook taken away by others
77 controller Deployment taken away
78 Service taken away
79 ClusterRole taken away
80 ClusterRoleBinding taken away
81 Role taken away
82 RoleBinding taken away
83 ServiceAccount taken away
84 Service port changed by others
85 failurePolicy changed by others
86 logVerbosity changes
87 namespaceSelector is copied
88 finalizer is set
89 deletion leaves nothing
90 foreign gate does not hold deletion
91 own gate holds deletion
92 deleted as soon as created
93 conditions: all ready
94 conditions: controller away
95 conditions: webhook away
96 conditions: both roll out
97 conditions: logVerbosity rolls out
98 conditions: ready again
99 conditions: deletion
100 negative weight refused
101 weight zero refused
102 weight above 100 refused
103 unknown architecture refused
104 scoring without platforms refused
105 empty architecture refused
106 fallback amd64
107 fallback arm64
108 fallback ppc64le
109 fallback s390x
110 fallback empty
111 fallback unknown refused
112 fallback blank refused
113 fallback in capitals refused
114 fallback of another family refused
115 fallback of signs refused
116 fallback too long refused
117 monitoring: finalizers
118 monitoring: turned off with events left
119 monitoring: daemon waits for its pull secret
120 monitoring: daemon stays
121 monitoring: errored events removed
122 monitoring: nothing to remove
123 monitoring: event without labels
124 namespace config without cluster config refused
125 cluster config kept while namespace configs exist
126 finalizer leaves with the last namespace config
127 cluster config deleted then
128 finalizer comes with a namespace config
129 finalizer goes with it
130 namespace config: negative weight
131 namespace config: weight zero
132 namespace config: weight above 100
133 namespace config: unknown architecture
134 namespace config: no platforms
135 namespace config: empty architecture
136 namespace config: architecture twice
137 namespace config: priority taken
138 namespace config: update to a taken priority
139 namespace config: freed priority
140 cluster config followed in memory
141 event stored
142 event stored after conflicts
143 event rolled back after many conflicts
144 event rolled back when it vanished
145 handler: pod event
146 handler: pod label
147 handler: pod away
148 handler: node away
149 handler: unknown container
150 handler: pod on another node
151 event objects outside of the namespace
152 event status accepted
153 handler: node away, event kept by a finalizer
154 handler: malformed container id
155 handler: another node, event kept by a finalizer
156 status: node name too long
157 status: node name with signs
158 status: node name with dashes at its ends
159 status: node name
160 status: pod name too long
161 status: pod name with signs
162 status: pod name
163 status: pod name with dashes at its ends
164 status: namespace too long
165 status: namespace with signs
166 status: namespace
167 status: namespace with dashes at its ends
168 status: container id of another length
169 status: container id malformed
170 container name by CRI-O id
171 container name by containerd id
172 container name of an unknown id
173 container name of a malformed id
174 container name of an empty id
175 v1beta1 read as v1alpha1
176 v1alpha1 read as v1beta1
177 namespace excluded by selector
178 namespace not excluded
179 namespace not included
180 namespace included
181 control-plane nodeSelector
182 master nodeSelector
183 plugins are hidden from v1alpha1
184 v1alpha1 has no plugins
185 fallback through v1alpha1
186 architecture twice refused
187 scoring off and own architecture
188 empty plugins
189 given up, with scoring
190 given up, with a fallback
191 deleted after its finalizer came
192 monitoring: installed and removed
193 monitoring: turned off
194 monitoring: deleted at once
195 monitoring: event on amd64
196 monitoring: event on arm64
197 monitoring: event on s390x
198 monitoring: event on ppc64le
199 monitoring: wrong image on amd64
200 monitoring: wrong image on arm64
201 monitoring: wrong image on s390x
202 monitoring: wrong image on ppc64le
203 monitoring: turned off with a pending event
204 monitoring: deleted with a pending event
205 namespace config without cluster config refused
206 cluster config kept while namespace configs exist
207 finalizer comes and goes
208 only a namespace config scores
209 namespace config of other labels
210 two namespace configs
211 architecture twice refused
212 priority taken refused
213 update to a taken priority refused
214 freed priority accepted
215 flags and leader identity
216 namespace labels and SELinux
217 rendered objects
218 monitoring objects
219 words and times of conditions
220 conditions during deletion
221 order of deletion
222 conversion corner cases
223 namespace config webhook corner cases
224 cluster config webhook corner cases
225 eBPF program
226 cgroup parsing
227 container runtime look-ups
228 rate limit and back-pressure
229 handler corner cases
230 metrics of alerts present before the first event
231 events of the operator
232 monitoring: handler taken away
`;
