// What Archway must say of each configuration of the matrix that is not simply accepted, as Go's client accepts it.

/** The sentence of a refusal, with the configurations that get it. */
export interface Refusal {
  readonly says: RegExp;
  readonly names?: readonly string[];
  /** Those that Go accepts: the runtime cannot do otherwise, and a pin does not reach them. */
  readonly acceptedByGo?: readonly string[];
}

/** Every configuration that is refused. */
export const REFUSALS: readonly Refusal[] = [
  {
    says: /shows a certificate that is marked as a CA .*Reissue it with CA:FALSE, or add it itself/,
    names: [
      "self-signed, CA:TRUE, not trusted",
      "self-signed, CA:TRUE, another one of the same name and key is trusted",
      "chain: leaf last",
      "another's certificate: CA:TRUE",
      "another's certificate: CA:TRUE, TLS 1.2",
      "another's certificate: CA:TRUE, P-256",
      "another's certificate: negative serial",
      "another's certificate: serial of 26 bytes",
      "another's certificate: directoryName constraints",
      "another's certificate: SHA-1",
      "another's certificate: MD5",
      "another's certificate: RSA-PSS",
    ],
    acceptedByGo: ["leaf CA:TRUE of a private CA"],
  },
  {
    says: /an authority that is not trusted .*UnknownIssuer/,
    names: [
      "leaf whose issuer is no string",
      "chain: intermediate missing",
      "CA file: with CR only",
      "CA file: indented",
      "CA file: all in one line",
      "CA file: TRUSTED CERTIFICATE only",
      "CA file: X509 CERTIFICATE only",
      "CA file: with PEM headers in the block",
      "CA file: in DER",
      "CA file: in UTF-16",
      "CA file: empty",
    ],
  },
  {
    says: /shows a certificate out of its time/,
    names: [
      "self-signed, CA:TRUE, expired",
      "self-signed, CA:TRUE, not yet valid",
      "leaf expired",
      "leaf expired a minute ago",
      "leaf not yet valid",
      "another's certificate: expired",
    ],
  },
  {
    says: /for another name .*A wildcard needs two labels after its star/,
    acceptedByGo: ["SAN: *.corp for reg.corp"],
  },
  {
    says: /shows a certificate for another name/,
    names: [
      "self-signed, CA:TRUE, no SAN",
      "self-signed, CA:TRUE, wrong host",
      "self-signed, CA:TRUE, IP SAN asked by name",
      "SAN: none, only a common name",
      "SAN: e-mail only, common name fits",
      "SAN: address as a name, asked by address",
      "SAN: name, asked by address",
      "SAN: address, asked by name",
      "SAN: *.corp.test for two labels",
      "SAN: * for localhost",
      "SAN: r*.corp.test",
      "SAN: reg.*.test",
      "SAN: another host",
      "SAN: trailing dot",
    ],
  },
  {
    says: /is not for servers .*Reissue it, and the authorities between, with the extended key usage serverAuth/,
    names: [
      "self-signed, CA:TRUE, EKU clientAuth only",
      "leaf with EKU clientAuth only",
      "intermediate with EKU clientAuth only",
    ],
    acceptedByGo: ["leaf with EKU any only", "intermediate with EKU any only"],
  },
  {
    says: /a critical extension that Archway does not know/,
    names: [
      "self-signed, CA:TRUE, unknown critical extension",
      "leaf with an unknown critical extension",
      "leaf with OCSP must-staple, critical",
      "leaf with critical issuerAltName",
      "another's certificate: unknown critical extension",
      "another's certificate: critical certificatePolicies",
    ],
    acceptedByGo: [
      "leaf with critical certificatePolicies",
      "intermediate with critical policyConstraints",
      "intermediate with critical certificatePolicies",
    ],
  },
  {
    says: /shows an X.509 v1 certificate .*Reissue it as version 3, with a subjectAltName/,
    names: ["self-signed, X.509 v1", "leaf X.509 v1", "another's certificate: X.509 v1"],
  },
  {
    says: /is signed in a way that is not accepted, such as SHA-1/,
    names: [
      "intermediate signed with SHA-1",
      "leaf signed with MD5 and RSA",
      "leaf signed with SHA-1 and RSA",
      "leaf signed with SHA-1 and ECDSA",
    ],
    acceptedByGo: ["CA key p224"],
  },
  {
    says: /whose signature does not verify .*may be too short .RSA under 2048 bits/,
    names: ["leaf with a wrong signature", "another's certificate: CA:FALSE"],
    acceptedByGo: ["CA with RSA 1024", "leaf key rsa1024", "leaf key rsa1024, TLS 1.2", "CA key rsa1024"],
  },
  {
    says: /sends more than 6 authorities between/,
    acceptedByGo: ["chain: 7 intermediates", "chain: 9 intermediates"],
  },
  {
    says: /sends more than 64 KB of certificates/,
    names: ["chain: about 310 KB"],
    acceptedByGo: ["chain: about 120 KB"],
  },
  {
    says: /speaks no TLS version of ours .*needs TLS 1.3, or TLS 1.2 with ECDHE .*--insecure-registry does not help/,
    names: ["TLS 1.0 only", "TLS 1.1 only"],
  },
  {
    says: /speaks no cipher suite of ours, or wants a client certificate .*over X25519, P-256 or P-384/,
    names: [
      "leaf key p224",
      "TLS 1.2, RSA key exchange with GCM",
      "TLS 1.2, RSA key exchange with CBC",
      "TLS 1.2, ECDHE-RSA with CBC and SHA-256",
      "TLS 1.2, ECDHE-RSA with 3DES",
      "client: no certificate, TLS 1.2",
    ],
    acceptedByGo: [
      "TLS 1.2, ECDHE-RSA with CBC and SHA-1",
      "TLS 1.2, ECDHE-ECDSA with CBC",
      "TLS 1.3, group CurveP521",
      "TLS 1.2, group CurveP521",
    ],
  },
  {
    says: /refuses our client certificate, or wants one .*Put the right one into certs.d/,
    names: ["client: no certificate", "client: intermediate missing", "client: of another CA", "client: expired"],
  },
  {
    says: /refused the TLS hand-shake .received fatal alert/,
    names: ["a name in the hand-shake is required, asked by address", "client: negative serial"],
  },
  {
    says: /closed the connection without an answer .*It must speak HTTP\/1.1/,
    acceptedByGo: ["HTTP/2 only"],
  },
  {
    says: /did not pass the TLS hand-shake .*NameConstraintViolation/,
    names: [
      "name constraints: permitted other.test only",
      "name constraints: excluded localhost",
      "name constraints: permitted localhost, leaf also has other.test",
      "name constraints: permitted directoryName",
      "intermediate with directoryName constraints",
    ],
  },
  {
    says:
      /did not pass the TLS hand-shake .*(ExtensionValueInvalid|BadEncoding|EndEntityUsedAsCa|PathLenConstraintViolated)/,
    names: [
      "leaf with a duplicate extension",
      "leaf with trailing bytes",
      "leaf that is garbage",
      "intermediate that is CA:FALSE",
      "intermediate with pathlen 0 and another below",
      "chain: second certificate has trailing bytes",
      "another's certificate: duplicate extension",
    ],
  },
  {
    says: /client.cert: the private key of the client certificate is encrypted: nodes cannot use it either/,
    names: ["client: key encrypted, PKCS#1", "client: key encrypted, PKCS#8"],
  },
  {
    says: /client.cert: the private key does not belong to the client certificate/,
    names: [
      "client: key of another certificate",
      "client: two keys, the first another's",
      "client: the intermediate first",
    ],
  },
  {
    says: /client.cert: its key is too short .RSA 1024.: reissue it with at least RSA 2048/,
    acceptedByGo: ["client: key rsa1024"],
  },
  {
    says: /client.cert: the client certificate is X.509 v1: reissue it with an extension file/,
    acceptedByGo: ["client: X.509 v1"],
  },
  {
    says: /its registry is not a host name/,
    acceptedByGo: [
      "SAN: asked with a trailing dot",
      "SAN: asked with an underscore",
      "SAN: asked with an underscore, wildcard",
    ],
  },
];

/**
 * Accepted, although Go refuses them: what the runtime does not check of an authority that the operator trusts, of other names
 * and of the rest of a chain. The pull fails on the node with a clear message.
 */
export const REFUSED_BY_GO: readonly string[] = [
  "CA without keyCertSign",
  "CA that is CA:FALSE",
  "CA without basicConstraints",
  "CA expired",
  "CA not yet valid",
  "CA with EKU clientAuth only",
  "CA with an unknown critical extension",
  "CA with a negative serial",
  "leaf with a negative serial",
  "SAN: another is UTF-8",
  "SAN: another is a URI that cannot be parsed",
  "SAN: an address of 5 bytes beside a name",
  "intermediate without keyCertSign",
  "CA with pathlen 0 and an intermediate",
  "chain: second certificate is garbage",
  "chain: second certificate is an empty sequence",
  "CA file: with a byte order mark",
  "CA file: with END and BEGIN on one line",
];
