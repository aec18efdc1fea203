// Rows of image inspection (AU, RF, MF) and of the Go helpers (UT, AP), one line each.

export const INSPECTION = `
AU-01 glob needs its label
AU-02 glob of one label
AU-03 two globs, one label
AU-04 two globs, two labels
AU-05 glob inside
AU-06 glob with a suffix
AU-07 no glob, nothing to expand
AU-08 literal key
AU-09 literal key beside a glob
AU-10 literal path beats the glob
AU-11 glob beside a literal path
AU-12 glob where the literal path differs
AU-13 glob with a path
AU-14 glob with a port
AU-15 two globs with a port
AU-16 glob with a port, too few labels
RF-01 bare name
RF-02 name and tag
RF-03 folder and name
RF-04 folder, name and tag
RF-05 host and name
RF-06 host, name and tag
RF-07 host, folder, name and tag
RF-08 port and name
RF-09 port, name and tag
RF-10 port, folder, name and tag
RF-11 deep path and tag
RF-12 port, deep path and tag
RF-13 name and digest
RF-14 folder, name and digest
RF-15 host, name and digest
RF-16 host, folder, name and digest
RF-17 port, name and digest
RF-18 port, folder, name and digest
RF-19 tag dropped, bare name
RF-20 tag dropped, folder
RF-21 tag dropped, host
RF-22 tag dropped, host and folder
RF-23 tag dropped, port
RF-24 tag dropped, port and folder
RF-25 tag dropped, deep path
RF-26 sha512 digest
RF-27 tag dropped, sha512
RF-28 tag dropped, sha384
RF-29 tag dropped, full digest
RF-30 default port and digest
RF-31 tag dropped, dashes in the path
RF-32 empty refused
RF-33 two digests refused
RF-34 two digests refused, with host
RF-35 dash in the name
RF-36 underscore in the name
RF-37 long tag dropped
RF-38 localhost
RF-39 localhost, tag dropped
RF-40 address
RF-41 address, tag dropped
RF-42 port kept, tag dropped
RF-43 default port kept, tag dropped
MF-01 linux/amd64 counts
MF-02 linux/arm64 counts
MF-03 attestation skipped
MF-04 unknown architecture skipped
MF-05 unknown platform skipped
MF-06 attestation that claims a platform skipped
MF-07 entry that refers to another skipped
MF-08 both annotations skipped
MF-09 other annotation counts
MF-10 entry without platform skipped safely
MF-11 image and attestation
MF-12 three images
MF-13 attestation alone
MF-14 attestation first
MF-15 image and unknown entry
MF-16 image and malformed attestation
MF-17 image and annotated attestation
MF-18 the result never says unknown
`;

/** Helpers of the MTO's operator, of its apply code and of its API package. */
export const HELPERS = `
UT-01 equal Services
UT-02 default type of a Service
UT-03 fields the server fills in
UT-04 port number differs
UT-05 port name differs
UT-06 target port differs
UT-07 protocol differs
UT-08 number of ports differs
UT-09 selector differs
UT-10 type differs
UT-11 null selectors
UT-12 default protocol
UT-13 node port of the server
UT-14 Deployment applied twice
UT-15 Deployment changed by others
UT-16 DaemonSet applied twice
UT-17 Service created, then unchanged
UT-18 Service changed by others
UT-19 memory of generations
AP-01 plugin on
AP-02 plugin off
AP-03 name of the base plugin
AP-04 name of the scoring plugin
AP-05 name of the exec-format plugin
`;
