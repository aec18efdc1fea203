// An AdmissionReview as the API server sends it for a pod of an ordinary Deployment: about 6 KB.

export function samplePod(image = "registry.example.com/shop/web:v1.2.3"): Record<string, unknown> {
  const env = Array.from({ length: 30 }, (_, index) => ({
    name: `SETTING_${index}`,
    value: `value-of-setting-${index}-${"x".repeat(20)}`,
  }));
  const container = {
    name: "web",
    image,
    imagePullPolicy: "IfNotPresent",
    env,
    ports: [{ containerPort: 8080, protocol: "TCP" }],
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
    livenessProbe: { httpGet: { path: "/healthz", port: 8080, scheme: "HTTP" }, periodSeconds: 10 },
    readinessProbe: { httpGet: { path: "/readyz", port: 8080, scheme: "HTTP" }, periodSeconds: 5 },
    volumeMounts: [{ name: "token", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true }],
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "web-7d4b9c6f58-",
      namespace: "shop",
      labels: { app: "web", "pod-template-hash": "7d4b9c6f58", "app.kubernetes.io/part-of": "shop" },
      annotations: Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [`example.com/note-${index}`, "y".repeat(80)]),
      ),
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d4b9c6f58", uid: "u", controller: true },
      ],
    },
    spec: {
      containers: [container, { ...container, name: "proxy", env: env.slice(0, 4) }],
      serviceAccountName: "default",
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      securityContext: {},
      schedulerName: "default-scheduler",
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
      volumes: [
        {
          name: "token",
          projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: "token" } }] },
        },
      ],
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
    },
    status: {},
  };
}

export function sampleReview(): Record<string, unknown> {
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
      kind: { group: "", version: "v1", kind: "Pod" },
      resource: { group: "", version: "v1", resource: "pods" },
      namespace: "shop",
      operation: "CREATE",
      userInfo: {
        username: "system:serviceaccount:kube-system:replicaset-controller",
        groups: ["system:authenticated"],
      },
      object: samplePod(),
      oldObject: null,
      dryRun: false,
      options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
    },
  };
}
