package main

import (
	"crypto"
	"crypto/tls"
	"crypto/x509/pkix"
)

// matrix collects configurations; root and leafKey are what most of them share.
type matrix struct {
	all     []*configuration
	root    identity
	second  identity
	leafKey crypto.Signer
	good    identity
}

func configurations() []*configuration {
	m := &matrix{leafKey: keyOf("rsa2048-leaf")}
	m.root = issue("Corp Root", keyOf("rsa2048-root"), asCA)
	m.second = issue("Other Root", keyOf("rsa2048-second"), asCA)
	m.good = m.leaf(local)
	m.selfSigned()
	m.authorities()
	m.nameConstraints()
	m.leaves()
	m.leafNames()
	m.chains()
	m.caFiles()
	m.keys()
	m.thieves()
	m.protocols()
	m.clients()
	return m.all
}

// add adds a configuration whose server shows these certificates, the first one's key being its own.
func (m *matrix) add(name, ca string, shown ...identity) *configuration {
	c := &configuration{Name: name, Host: "localhost", CA: ca, key: shown[0].key, http1: true}
	for _, one := range shown {
		c.chain = append(c.chain, one.der)
	}
	m.all = append(m.all, c)
	return c
}

func (c *configuration) askedAs(host string) *configuration {
	c.Host = host
	return c
}

func (c *configuration) tuned(tune func(*tls.Config)) *configuration {
	c.tune = tune
	return c
}

// leaf is a server certificate of the root with these extensions beside the usual ones.
func (m *matrix) leaf(extensions ...pkix.Extension) identity { return m.leafOf(m.root, extensions...) }

func (m *matrix) leafOf(issuer identity, extensions ...pkix.Extension) identity {
	return issue("localhost", m.leafKey, by(issuer), with(isNoCA, signAndEncrypt, usages(serverAuth)), with(extensions...))
}

// selfSigned: certificates that are in the CA file themselves.
func (m *matrix) selfSigned() {
	own := func(name string, options ...option) identity {
		certificate := issue("localhost", m.leafKey, options...)
		m.add("self-signed, "+name, certificate.pem(), certificate)
		return certificate
	}
	m.add("leaf of a private CA", m.root.pem(), m.good).http2 = true
	usual := own("CA:TRUE", with(isCA, local))
	own("CA:TRUE, keyCertSign", with(isCA, certSign, local))
	elliptic := issue("localhost", keyOf("p256-leaf"), with(isCA, local))
	m.add("self-signed, CA:TRUE, P-256", elliptic.pem(), elliptic)
	own("CA:FALSE", with(isNoCA, local))
	own("no basicConstraints", with(local))
	own("CA:FALSE, EKU serverAuth", with(isNoCA, signAndEncrypt, usages(serverAuth), local))
	own("X.509 v1", version1)
	own("CA:TRUE, no SAN", with(isCA))
	own("CA:TRUE, expired", with(isCA, local), expired)
	own("CA:TRUE, not yet valid", with(isCA, local), valid(day, 9*day))
	own("CA:TRUE, SHA-1", with(isCA, local), signedAs(sha1RSA))
	own("CA:FALSE, SHA-1", with(isNoCA, local), signedAs(sha1RSA))
	own("CA:TRUE, wrong host", with(isCA, names(dns("other.test"))))
	own("CA:TRUE, EKU serverAuth", with(isCA, usages(serverAuth), local))
	own("CA:TRUE, EKU clientAuth only", with(isCA, usages(clientAuth), local))
	own("CA:TRUE, EKU any only", with(isCA, usages(anyUsage), local))
	own("CA:TRUE, IP SAN asked by name", with(isCA, names(ip("127.0.0.1"))))
	own("CA:TRUE, otherName beside", with(isCA, names(otherName(), dns("localhost"))))
	own("CA:TRUE, unknown critical extension", with(isCA, unknown, local))
	byAddress := issue("registry", m.leafKey, with(isCA, names(ip("127.0.0.1"))))
	m.add("self-signed, CA:TRUE, IP SAN asked by address", byAddress.pem(), byAddress).askedAs("127.0.0.1")
	wildcard := issue("registry", m.leafKey, with(isCA, names(dns("*.corp.test"))))
	m.add("self-signed, CA:TRUE, wildcard", wildcard.pem(), wildcard).askedAs("reg.corp.test")
	m.add("self-signed, CA:TRUE, sent twice", usual.pem(), usual, usual)
	m.add("self-signed, CA:TRUE, not trusted", m.root.pem(), usual)
	renewed := issue("localhost", m.leafKey, with(isCA, local))
	m.add("self-signed, CA:TRUE, another one of the same name and key is trusted", renewed.pem(), usual)
	m.add("leaf of a private CA, trusted itself, its CA not", m.good.pem(), m.good)
	asCALeaf := issue("localhost", m.leafKey, by(m.root), with(isCA, local))
	m.add("leaf CA:TRUE of a private CA", m.root.pem(), asCALeaf)
	m.add("leaf CA:TRUE of a private CA, both trusted", m.root.pem()+asCALeaf.pem(), asCALeaf)
}

// authorities: a leaf as it should be, of a CA that is not.
func (m *matrix) authorities() {
	of := func(name string, options ...option) {
		m.underCA("CA "+name, "rsa2048-second", options...)
	}
	of("without keyUsage", with(isCA))
	of("without keyCertSign", with(isCA, signAndEncrypt))
	of("that is CA:FALSE", with(isNoCA))
	of("without basicConstraints", with(certSign))
	of("that is X.509 v1", version1)
	of("expired", asCA, expired)
	of("not yet valid", asCA, valid(day, 9*day))
	of("self-signed with SHA-1", asCA, signedAs(sha1RSA))
	of("self-signed with MD5", asCA, signedAs(md5RSA))
	of("self-signed with RSA-PSS", asCA, signedAs(pssRSA))
	of("with EKU clientAuth only", asCA, with(usages(clientAuth)))
	of("without key identifiers", asCA, withoutKeyIDs)
	of("without a subject", asCA, withoutSubject)
	m.underCA("CA with RSA 1024", "rsa1024-ca", asCA)
	of("with an unknown critical extension", asCA, with(unknown))
	of("with critical certificatePolicies", asCA, with(policies))
	of("with critical policyConstraints", asCA, with(noPolicyNeeded))
	of("with critical inhibitAnyPolicy", asCA, with(noAnyPolicy))
	of("with serial 0", asCA, serial(0))
	of("with a negative serial", asCA, serial(-77))
	of("with a serial of 26 bytes", asCA, longSerial(0x7b, 200))
	of("valid until 9999", asCA, untilTheEnd)
}

func (m *matrix) underCA(name, key string, options ...option) *configuration {
	ca := issue(name, keyOf(key), options...)
	return m.add(name, ca.pem(), m.leafOf(ca, local))
}

func (m *matrix) nameConstraints() {
	type list = []rawName
	of := func(name string, permitted, excluded list, host string, san ...rawName) {
		ca := issue(name, keyOf("rsa2048-second"), asCA, with(constraints(permitted, excluded)))
		m.add("name constraints: "+name, ca.pem(), m.leafOf(ca, names(san...))).askedAs(host)
	}
	here := dns("localhost")
	of("permitted localhost", list{here}, nil, "localhost", here)
	of("permitted other.test only", list{dns("other.test")}, nil, "localhost", here)
	of("excluded localhost", nil, list{here}, "localhost", here)
	of("permitted corp.test for reg.corp.test", list{dns("corp.test")}, nil, "reg.corp.test", dns("reg.corp.test"))
	of("permitted .corp.test for reg.corp.test", list{dns(".corp.test")}, nil, "reg.corp.test", dns("reg.corp.test"))
	of("permitted 127.0.0.0/8, asked by address", list{general(7, []byte{127, 0, 0, 0, 255, 0, 0, 0})}, nil, "127.0.0.1", ip("127.0.0.1"))
	of("permitted DNS only, leaf also has an address", list{here}, nil, "localhost", here, ip("10.0.0.1"))
	of("permitted localhost, leaf also has other.test", list{here}, nil, "localhost", here, dns("other.test"))
	of("permitted e-mail of corp.test", list{general(1, []byte("corp.test"))}, nil, "localhost", here)
	of("permitted directoryName", list{directory()}, nil, "localhost", here)
	of("permitted corp.test for *.corp.test", list{dns("corp.test")}, nil, "reg.corp.test", dns("*.corp.test"))
}
