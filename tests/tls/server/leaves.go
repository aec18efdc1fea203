package main

import (
	"bytes"
	"crypto"
	"encoding/asn1"
	"fmt"
	"time"
)

type rawName = asn1.RawValue

// otherName is a user principal name, as Active Directory adds it.
func otherName() rawName {
	value := general(0, append(encode(asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 20, 2, 3}),
		encode(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: []byte{12, 3, 'a', '@', 'b'}})...))
	value.IsCompound = true
	return value
}

func untilTheEnd(t *template) { t.to = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }

// leaves: one certificate of the root, odd in one way.
func (m *matrix) leaves() {
	of := func(name string, options ...option) {
		m.add("leaf "+name, m.root.pem(), issue("localhost", m.leafKey, append([]option{by(m.root)}, options...)...))
	}
	of("without EKU", with(isNoCA, signAndEncrypt, local))
	of("with EKU clientAuth only", with(isNoCA, signAndEncrypt, usages(clientAuth), local))
	of("with EKU any only", with(isNoCA, signAndEncrypt, usages(anyUsage), local))
	of("with EKU serverAuth and clientAuth, critical", with(isNoCA, signAndEncrypt, critical(usages(serverAuth, clientAuth)), local))
	of("with keyUsage keyEncipherment only", with(isNoCA, keyUsage(0x20), local))
	of("without any extension but SAN", with(local), withoutKeyIDs)
	of("X.509 v1", version1)
	usual := with(isNoCA, signAndEncrypt, usages(serverAuth), local)
	of("expired", usual, expired)
	of("expired a minute ago", usual, valid(-9*day, -time.Minute))
	of("not yet valid", usual, valid(day, 9*day))
	of("valid for 100 years", usual, valid(-day, 36500*day))
	of("with an unknown critical extension", usual, with(unknown))
	of("with critical certificatePolicies", usual, with(policies))
	staple := extension(0, []byte{0x30, 3, 2, 1, 5})
	staple.Id = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}
	of("with OCSP must-staple", usual, with(staple))
	of("with OCSP must-staple, critical", usual, with(critical(staple)))
	of("with critical issuerAltName", usual, with(critical(extension(18, encode([]rawName{dns("ca")})))))
	of("with a duplicate extension", usual, with(local))
	of("with a negative serial", usual, serial(-5))
	of("with serial 0", usual, serial(0))
	of("with a serial of 26 bytes", usual, longSerial(0x7b, 200))
	of("with a serial of 20 bytes and a sign byte", usual, longSerial(0xff, 152))
	of("without a subject, SAN critical", withoutSubject, with(isNoCA, signAndEncrypt, critical(local)))
	of("without a subject, SAN not critical", withoutSubject, with(isNoCA, signAndEncrypt, local))
	of("with a wrong signature", signedBy(keyOf("rsa2048-second")), with(local))
	m.spoilt("leaf with trailing bytes", append(bytes.Clone(m.good.der), 1, 2, 3))
	m.spoilt("leaf that is garbage", []byte("garbage"))
	broken := bytes.Clone(m.good.der)
	copy(broken[bytes.Index(broken, []byte("archway test")):], "\xff\xfe\xff\xfe")
	m.spoilt("leaf whose issuer is no string", broken)
}

// spoilt adds a server that shows these bytes for certificates.
func (m *matrix) spoilt(name string, shown ...[]byte) *configuration {
	c := m.add(name, m.root.pem(), m.good)
	c.chain = shown
	return c
}

// leafNames: what the subjectAltName of the leaf holds, and by which name it is asked.
func (m *matrix) leafNames() {
	of := func(name, host string, san ...rawName) {
		m.add("SAN: "+name, m.root.pem(), m.leaf(names(san...))).askedAs(host)
	}
	here := dns("localhost")
	m.add("SAN: none, only a common name", m.root.pem(), m.leaf())
	of("e-mail only, common name fits", "localhost", general(1, []byte("a@corp.test")))
	of("address, asked by address", "127.0.0.1", ip("127.0.0.1"))
	of("address and name, asked by address", "127.0.0.1", here, ip("127.0.0.1"))
	of("address as a name, asked by address", "127.0.0.1", dns("127.0.0.1"))
	of("name, asked by address", "127.0.0.1", here)
	of("address, asked by name", "localhost", ip("127.0.0.1"))
	of("*.corp.test", "reg.corp.test", dns("*.corp.test"))
	of("*.corp.test for two labels", "a.reg.corp.test", dns("*.corp.test"))
	of("*.corp for reg.corp", "reg.corp", dns("*.corp"))
	of("* for localhost", "localhost", dns("*"))
	of("r*.corp.test", "reg.corp.test", dns("r*.corp.test"))
	of("reg.*.test", "reg.corp.test", dns("reg.*.test"))
	of("another host", "localhost", dns("other.test"))
	of("upper case", "localhost", dns("LocalHost"))
	of("trailing dot", "reg.corp.test", dns("reg.corp.test."))
	of("asked with a trailing dot", "reg.corp.test.", dns("reg.corp.test"))
	of("asked with an underscore", "my_reg.corp.test", dns("my_reg.corp.test"))
	of("asked with an underscore, wildcard", "my_reg.corp.test", dns("*.corp.test"))
	of("another with an underscore", "localhost", dns("my_reg.corp.test"), here)
	of("another with a port", "localhost", dns("localhost:5000"), here)
	of("another with a space", "localhost", dns("my reg"), here)
	of("another is empty", "localhost", dns(""), here)
	of("another is UTF-8", "localhost", dns("régistre.test"), here)
	of("another is an otherName", "localhost", otherName(), here)
	of("another is a URI and a directoryName", "localhost", uri("https://x.test/"), directory(), here)
	of("another is a URI that cannot be parsed", "localhost", uri("http://[bad"), here)
	of("another begins with a dash", "localhost", dns("-reg.corp.test"), here)
	of("an address of 5 bytes beside a name", "localhost", here, general(7, []byte{1, 2, 3, 4, 5}))
	var many []rawName
	for i := range 300 {
		many = append(many, dns(fmt.Sprintf("host%d.corp.test", i)))
	}
	of("300 others", "localhost", append(many, here)...)
}

// keys: kinds and sizes of keys, and what leaves are signed with.
func (m *matrix) keys() {
	for _, kind := range []string{"rsa1024", "rsa2048", "rsa3072", "rsa4096", "rsa8192", "p224", "p256", "p384", "p521", "ed25519"} {
		leaf := issue("localhost", keyOf(kind+"-any"), by(m.root), with(isNoCA, keyUsage(0x80), usages(serverAuth), local))
		m.add("leaf key "+kind, m.root.pem(), leaf)
		if kind[:3] == "rsa" {
			m.add("leaf key "+kind+", TLS 1.2", m.root.pem(), leaf).tuned(upTo12)
		}
		m.underCA("CA key "+kind, kind+"-any", asCA)
	}
	signed := func(name, key string, with0 signature) {
		ca := issue("CA "+name, keyOf(key), asCA)
		leaf := issue("localhost", m.leafKey, by(ca), signedAs(with0), with(isNoCA, signAndEncrypt, usages(serverAuth), local))
		m.add("leaf signed with "+name, ca.pem(), leaf)
	}
	signed("MD5 and RSA", "rsa2048-second", md5RSA)
	signed("SHA-1 and RSA", "rsa2048-second", sha1RSA)
	signed("SHA-1 and ECDSA", "p256-any", sha1ECDSA)
	signed("SHA-384 and RSA", "rsa2048-second", sha384RSA)
	signed("SHA-512 and RSA", "rsa2048-second", sha512RSA)
	signed("RSA-PSS", "rsa2048-second", pssRSA)
	signed("SHA-384 and P-256", "p256-any", sha384ECDSA)
	signed("SHA-512 and P-256", "p256-any", sha512ECDSA)
	signed("SHA-256 and P-384", "p384-any", sha256ECDSA)
	signed("SHA-512 and P-384", "p384-any", sha512ECDSA)
	signed("SHA-256 and P-521", "p521-any", sha256ECDSA)
	signed("SHA-384 and P-521", "p521-any", sha384ECDSA)
}

// thieves show a certificate that is trusted itself, without having its key: nobody may accept them.
func (m *matrix) thieves() {
	of := func(name string, key crypto.Signer, options ...option) *configuration {
		certificate := issue("localhost", key, options...)
		c := m.add("another's certificate: "+name, certificate.pem(), certificate)
		c.key = keyOf("rsa2048-thief")
		return c
	}
	of("CA:TRUE", m.leafKey, with(isCA, local))
	of("CA:TRUE, TLS 1.2", m.leafKey, with(isCA, local)).tuned(upTo12)
	of("CA:TRUE, P-256", keyOf("p256-leaf"), with(isCA, local)).key = keyOf("p256-thief")
	of("CA:FALSE", m.leafKey, with(isNoCA, local))
	of("X.509 v1", m.leafKey, version1)
	of("negative serial", m.leafKey, with(isCA, local), serial(-4))
	of("serial of 26 bytes", m.leafKey, with(isCA, local), longSerial(0x7b, 200))
	of("unknown critical extension", m.leafKey, with(isCA, unknown, local))
	of("critical certificatePolicies", m.leafKey, with(isCA, policies, local))
	of("duplicate extension", m.leafKey, with(isCA, local, local))
	of("directoryName constraints", m.leafKey, with(isCA, constraints([]rawName{directory()}, nil), local))
	of("SHA-1", m.leafKey, with(isCA, local), signedAs(sha1RSA))
	of("MD5", m.leafKey, with(isCA, local), signedAs(md5RSA))
	of("RSA-PSS", m.leafKey, with(isCA, local), signedAs(pssRSA))
	of("expired", m.leafKey, with(isCA, local), expired)
}
