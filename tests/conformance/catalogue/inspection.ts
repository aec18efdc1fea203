// Rows of image inspection (AU, RF, MF) and of the Go helpers (UT, AP), one line each: id, and in one sentence what it demands.

export const INSPECTION = `
AU-01 The credential of *.kubernetes.io does not match an image of kubernetes.io itself.
AU-02 The credential of *.kubernetes.io matches an image of abc.kubernetes.io.
AU-03 The credential of *.*.kubernetes.io does not match an image of abc.kubernetes.io.
AU-04 The credential of *.*.kubernetes.io matches an image of abc.def.kubernetes.io.
AU-05 The credential of prefix.*.io matches an image of prefix.kubernetes.io.
AU-06 The credential of *-good.kubernetes.io matches an image of prefix-good.kubernetes.io.
AU-07 The credential of kubernetes.io, without a star, matches an image of that host as it is.
AU-08 The credential of docker.io matches an image of that host as it is.
AU-09 A credential with a star for other hosts adds nothing to that of docker.io for an image of docker.io.
AU-10 A credential that names the path of the image comes before one with a star and the same path.
AU-11 A credential that names the path of the image leaves one with a star for its host usable.
AU-12 A credential with a star for the host is used where the literal one is for another repository.
AU-13 A credential with a star and a path is used where the literal one is for another repository.
AU-14 A credential with a star and a port matches an image of that port.
AU-15 Of two credentials with stars and a port only that with as many labels as the image's host matches.
AU-16 A credential with one star and a port does not match a host with one more label.
RF-01 A reference of a name alone stays as it is.
RF-02 A reference of name and tag stays as it is.
RF-03 A reference of folder and name stays as it is.
RF-04 A reference of folder, name and tag stays as it is.
RF-05 A reference of host and name stays as it is.
RF-06 A reference of host, name and tag stays as it is.
RF-07 A reference of host, folder, name and tag stays as it is.
RF-08 A reference of host with port and name stays as it is.
RF-09 A reference of host with port, name and tag stays as it is.
RF-10 A reference of host with port, folder, name and tag stays as it is.
RF-11 A reference of host, deep path and tag stays as it is.
RF-12 A reference of host with port, deep path and tag stays as it is.
RF-13 A reference of name and digest stays as it is.
RF-14 A reference of folder, name and digest stays as it is.
RF-15 A reference of host, name and digest stays as it is.
RF-16 A reference of host, folder, name and digest stays as it is.
RF-17 A reference of host with port, name and digest stays as it is.
RF-18 A reference of host with port, folder, name and digest stays as it is.
RF-19 A reference of name, tag and digest loses its tag.
RF-20 A reference of folder, name, tag and digest loses its tag.
RF-21 A reference of host, name, tag and digest loses its tag.
RF-22 A reference of host, folder, name, tag and digest loses its tag.
RF-23 A reference of host with port, name, tag and digest loses its tag and keeps its port.
RF-24 A reference of host with port, folder, name, tag and digest loses its tag and keeps its port.
RF-25 A reference of host with port, deep path, tag and digest loses its tag and keeps its port.
RF-26 A reference of name and sha512 digest stays as it is.
RF-27 A reference of name, tag and sha512 digest loses its tag.
RF-28 A reference of host with port, name, tag and sha384 digest loses its tag.
RF-29 A reference to docker.io with tag and whole sha256 digest loses its tag.
RF-30 A reference with the port 443 and a digest keeps both.
RF-31 A reference with dashes in its path, tag and digest loses its tag.
RF-32 An empty reference is refused with words that say it must not be empty.
RF-33 A reference with two digests is refused with words that say only one is allowed.
RF-34 A reference of host, name and two digests is refused with words that say only one is allowed.
RF-35 A reference with a dash in its name stays as it is.
RF-36 A reference with an underscore in its name stays as it is.
RF-37 A reference with a tag of dots and dashes and a digest loses its tag.
RF-38 A reference to localhost with port and tag stays as it is.
RF-39 A reference to localhost with port, tag and digest loses its tag.
RF-40 A reference to an IPv4 address with port and tag stays as it is.
RF-41 A reference to an IPv4 address with port, tag and digest loses its tag.
RF-42 A reference of port, tag and short digest is no error, and keeps its port and loses its tag.
RF-43 A reference of the port 443, tag and short digest is no error, and keeps its port and loses its tag.
MF-01 An index entry of linux/amd64 counts.
MF-02 An index entry of linux/arm64 counts.
MF-03 An index entry annotated as attestation with the platform unknown/unknown is skipped.
MF-04 An index entry of linux and an unknown architecture is skipped.
MF-05 An index entry of the platform unknown/unknown without annotation is skipped.
MF-06 An index entry annotated as attestation is skipped although it claims linux/amd64.
MF-07 An index entry annotated with the digest of another one is skipped although it claims linux/amd64.
MF-08 An index entry with both annotations of attestations is skipped.
MF-09 An index entry of linux/amd64 with an unrelated annotation counts.
MF-10 An index entry without platform is skipped and does no harm.
MF-11 An index of amd64 and an attestation gives amd64 alone, and its first image is that of amd64.
MF-12 An index of three architectures gives all three, and its first image is that of amd64.
MF-13 An index of an attestation alone gives no architecture and no image.
MF-14 An index whose attestation comes before arm64 gives arm64, and its first image is that of arm64.
MF-15 An index of amd64 and an entry of unknown architecture gives amd64 alone.
MF-16 An index of arm64 and an attestation that claims amd64 gives arm64 alone.
MF-17 An index of amd64 and an attestation with both annotations gives amd64 alone.
MF-18 No index gives an architecture that is called unknown.
`;

/** Helpers of the MTO's operator, of its apply code and of its API package. */
export const HELPERS = `
UT-01 Two identical Services compare as equal.
UT-02 A Service without type equals one of type ClusterIP.
UT-03 Fields of a Service that the API server fills in are ignored in the comparison.
UT-04 Services whose port numbers differ are different.
UT-05 Services whose port names differ are different.
UT-06 Services whose target ports differ are different.
UT-07 Services whose protocols differ are different.
UT-08 Services with different numbers of ports are different.
UT-09 Services whose selectors differ are different.
UT-10 Services whose types differ are different.
UT-11 Services that both have a null selector are equal.
UT-12 A Service without protocol equals one with the protocol TCP.
UT-13 A node port that the API server chose is ignored in the comparison.
UT-14 Applying a Deployment a second time changes nothing and calls no update.
UT-15 A Deployment that others changed is set back when it is applied.
UT-16 Applying a DaemonSet a second time changes nothing.
UT-17 Applying a Service creates it where it is absent, and then changes nothing.
UT-18 A port of a Service that others changed is set back when it is applied.
UT-19 The memory of applied generations is empty after a reset and filled after an object was applied.
AP-01 A plugin whose field enabled is true counts as enabled.
AP-02 A plugin whose field enabled is false does not count as enabled.
AP-03 The name of the base plugin is BasePlugin.
AP-04 The name of the scoring plugin is NodeAffinityScoring.
AP-05 The name of the plugin for exec format errors is execFormatErrorMonitor.
`;
