set -euo pipefail

# CA certificates that are mounted count from here on.
export P11_KIT_NO_USER_CONFIG=1
trust=/etc/pki/ca-trust/extracted
p11-kit extract --overwrite --comment --filter=certificates --format=openssl-bundle "$trust/openssl/ca-bundle.trust.crt"
p11-kit extract --overwrite --comment --filter=ca-anchors --format=pem-bundle --purpose server-auth "$trust/pem/tls-ca-bundle.pem"

su -m build <<'BUILD'
set -euo pipefail
context="$HOME/context"
mkdir -p "$context/machineconfig"
cp /tmp/containerfile/Containerfile "$context/"
cp /tmp/machineconfig/machineconfig.json.gz "$context/machineconfig/"
cp /etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt "$context/"

options=(--log-level=DEBUG --storage-driver vfs --authfile="$BASE_IMAGE_PULL_CREDS" --tag "$TAG")
options+=(--file="$context/Containerfile")
for name in HTTP_PROXY HTTPS_PROXY NO_PROXY; do options+=(--build-arg "$name=${!name:-}"); done

# Of several architectures: the image says which it is, and for which inputs.
if [ -n "${TARGETARCH:-}" ]; then
  options+=(--format oci --platform "$TARGETPLATFORM")
  for name in TARGETARCH TARGETOS TARGETPLATFORM; do options+=(--build-arg "$name=${!name}"); done
  options+=(--label "archway.dev.build-key=$BUILD_KEY" --label "archway.dev.arch=$ARCH")
fi

# Copies, because mounts of the cluster cannot be relabelled for the build.
share() {
  if [ -n "$1" ] && [ -d "$1" ]; then
    copy=$(mktemp -d)
    cp -r "$1/." "$copy"
    chmod -R 0755 "$copy"
    options+=("--volume=$copy:$2:z,rw")
  fi
}
share /var/run/secrets/rhsm /run/secrets/rhsm
share "${ETC_PKI_ENTITLEMENT_MOUNTPOINT:-}" "${ETC_PKI_ENTITLEMENT_MOUNTPOINT:-}"
share "${ETC_YUM_REPOS_D_MOUNTPOINT:-}" "${ETC_YUM_REPOS_D_MOUNTPOINT:-}"
share "${ETC_PKI_RPM_GPG_MOUNTPOINT:-}" "${ETC_PKI_RPM_GPG_MOUNTPOINT:-}"

buildah bud "${options[@]}" "$context"
buildah push --storage-driver vfs --authfile="$FINAL_IMAGE_PUSH_CREDS" --digestfile=/tmp/done/digestfile \
  --cert-dir /var/run/secrets/kubernetes.io/serviceaccount "$TAG"
BUILD
