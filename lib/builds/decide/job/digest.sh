set -euo pipefail

# The arguments are those of `machine-os-builder create-digest-configmap`.
for option in "$@"; do
  value="${option#*=}"
  case "$option" in
    --configmap-name=*) name="$value" ;;
    --digestfile=*) digest="$(tr -d '[:space:]' <"$value")" ;;
    --namespace=*) namespace="$value" ;;
    # Keys and values in turn.
    --labels=*) IFS=',=' read -ra labels <<<"$value" ;;
  esac
done

{
  printf 'apiVersion: v1\nkind: ConfigMap\ndata: { digest: "%s" }\nmetadata:\n' "$digest"
  printf '  name: "%s"\n  namespace: "%s"\n  labels:\n' "$name" "$namespace"
  printf '    "%s": "%s"\n' "${labels[@]}"
} | oc apply --filename=-
