package main

import (
	"crypto"
	"crypto/rand"
	cryptorsa "crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
)

func upTo12(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }

func only(version uint16, suites ...uint16) func(*tls.Config) {
	return func(c *tls.Config) { c.MinVersion, c.MaxVersion, c.CipherSuites = version, version, suites }
}

func (m *matrix) protocols() {
	of := func(name string, tune func(*tls.Config)) *configuration {
		return m.add(name, m.root.pem(), m.good).tuned(tune)
	}
	of("TLS 1.0 only", only(tls.VersionTLS10))
	of("TLS 1.1 only", only(tls.VersionTLS11))
	of("TLS 1.2 only", only(tls.VersionTLS12))
	of("TLS 1.3 only", only(tls.VersionTLS13))
	of("TLS 1.2, RSA key exchange with GCM", only(tls.VersionTLS12, tls.TLS_RSA_WITH_AES_128_GCM_SHA256))
	of("TLS 1.2, RSA key exchange with CBC", only(tls.VersionTLS12, tls.TLS_RSA_WITH_AES_256_CBC_SHA))
	of("TLS 1.2, ECDHE-RSA with CBC and SHA-1", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA))
	of("TLS 1.2, ECDHE-RSA with CBC and SHA-256", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256))
	of("TLS 1.2, ECDHE-RSA with 3DES", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA))
	of("TLS 1.2, ECDHE-RSA with AES-128-GCM", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256))
	of("TLS 1.2, ECDHE-RSA with AES-256-GCM", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384))
	of("TLS 1.2, ECDHE-RSA with CBC or GCM", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256))
	elliptic := issue("localhost", keyOf("p256-leaf"), by(m.root), with(isNoCA, keyUsage(0x80), usages(serverAuth), local))
	m.add("TLS 1.2, ECDHE-ECDSA with CBC", m.root.pem(), elliptic).tuned(only(tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA))
	m.add("TLS 1.2, ECDHE-ECDSA with ChaCha20", m.root.pem(), elliptic).tuned(only(tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256))
	for _, group := range []tls.CurveID{tls.CurveP521, tls.CurveP384, tls.CurveP256, tls.X25519} {
		of("TLS 1.3, group "+group.String(), func(c *tls.Config) { c.MinVersion, c.CurvePreferences = tls.VersionTLS13, []tls.CurveID{group} })
		of("TLS 1.2, group "+group.String(), func(c *tls.Config) { c.MaxVersion, c.CurvePreferences = tls.VersionTLS12, []tls.CurveID{group} })
	}
	of("TLS 1.3, group X25519MLKEM768", func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.X25519MLKEM768} })
	onlyHTTP2 := of("HTTP/2 only", nil)
	onlyHTTP2.http1, onlyHTTP2.http2 = false, true
	of("HTTP/2 and HTTP/1.1", nil).http2 = true
	of("no session tickets", func(c *tls.Config) { c.SessionTicketsDisabled = true })
	of("a name in the hand-shake is required", requireName)
	m.add("a name in the hand-shake is required, asked by address", m.root.pem(), m.leaf(names(ip("127.0.0.1")))).tuned(requireName).askedAs("127.0.0.1")
}

func requireName(c *tls.Config) {
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if hello.ServerName == "" {
			return nil, errors.New("no name")
		}
		return nil, nil
	}
}

// clients: what the client has to show, and in which form it has it.
func (m *matrix) clients() {
	trusted := poolOf(m.root)
	demand := func(pool *x509.CertPool) func(*tls.Config) {
		return func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, pool }
	}
	of := func(name string, key crypto.Signer, keyText string, options ...option) *configuration {
		usual := []option{by(m.root), with(isNoCA, keyUsage(0x80), usages(clientAuth))}
		c := m.add("client: "+name, m.root.pem(), m.good).tuned(demand(trusted))
		c.ClientCertificate, c.ClientKey = issue("node", key, append(usual, options...)...).pem(), keyText
		return c
	}
	m.add("client: no certificate", m.root.pem(), m.good).wantsCert = true
	m.add("client: no certificate, TLS 1.2", m.root.pem(), m.good).tuned(upTo12).wantsCert = true
	rsa := keyOf("rsa2048-client")
	plain := pkcs8(rsa)
	of("RSA, PKCS#8", rsa, plain)
	of("RSA, PKCS#1", rsa, pkcs1(rsa, "RSA PRIVATE KEY"))
	of("RSA, TLS 1.2", rsa, plain).tuned(upTo12).wantsCert = true
	of("RSA, PKCS#1 labelled PRIVATE KEY", rsa, pkcs1(rsa, "PRIVATE KEY"))
	of("RSA, PKCS#8 labelled RSA PRIVATE KEY", rsa, strings.ReplaceAll(plain, "PRIVATE", "RSA PRIVATE"))
	for _, kind := range []string{"p256", "p384", "p521"} {
		key := keyOf(kind + "-client")
		of(kind+", SEC1", key, sec1(key))
		of(kind+", PKCS#8", key, pkcs8(key))
		of(kind+", TLS 1.2", key, pkcs8(key)).tuned(upTo12).wantsCert = true
	}
	elliptic := keyOf("p256-client")
	of("p256, SEC1 labelled PRIVATE KEY", elliptic, strings.ReplaceAll(sec1(elliptic), "EC PRIVATE", "PRIVATE"))
	of("p256, SEC1 after EC PARAMETERS", elliptic, pemBlock("EC PARAMETERS", []byte{6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7})+sec1(elliptic))
	of("p256, SEC1 with CRLF", elliptic, strings.ReplaceAll(sec1(elliptic), "\n", "\r\n"))
	edwards := keyOf("ed25519-client")
	of("Ed25519", edwards, pkcs8(edwards))
	for _, kind := range []string{"rsa1024", "rsa4096", "rsa8192"} {
		key := keyOf(kind + "-any")
		of("key "+kind, key, pkcs8(key))
	}
	encrypted := pem.EncodeToMemory(must(x509.EncryptPEMBlock(rand.Reader, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsa.(*cryptorsa.PrivateKey)), []byte("secret"), x509.PEMCipherAES128)))
	of("key encrypted, PKCS#1", rsa, string(encrypted))
	of("key encrypted, PKCS#8", rsa, pemBlock("ENCRYPTED PRIVATE KEY", []byte{0x30, 3, 4, 1, 0}))
	of("key of another certificate", rsa, pkcs8(m.leafKey))
	both := of("key and certificate in both files", rsa, plain)
	both.ClientCertificate += both.ClientKey
	both.ClientKey = both.ClientCertificate
	of("two keys, the first another's", rsa, pkcs8(m.leafKey)+plain)
	issuing := issue("Corp Issuing", keyOf("rsa2048-issuing"), by(m.root), asCA)
	node := issue("node", rsa, by(issuing), with(isNoCA, keyUsage(0x80), usages(clientAuth)))
	of("with an intermediate", rsa, plain).ClientCertificate = node.pem() + issuing.pem()
	of("the intermediate first", rsa, plain).ClientCertificate = issuing.pem() + node.pem()
	of("intermediate missing", rsa, plain).ClientCertificate = node.pem()
	of("of another CA", rsa, plain).tuned(demand(poolOf(m.second)))
	of("expired", rsa, plain, expired)
	of("without EKU", rsa, plain, func(t *template) { t.extensions = t.extensions[:1] })
	of("X.509 v1", rsa, plain, version1)
	of("negative serial", rsa, plain, serial(-3)).tuned(nil).wantsCert = true
	own := issue("node", rsa, with(isCA))
	self := of("self-signed, CA:TRUE", rsa, plain).tuned(demand(poolOf(own)))
	self.ClientCertificate = own.pem()
	of("optional, another CA's given", rsa, plain).tuned(func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert })
}

func poolOf(ca identity) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(must(x509.ParseCertificate(ca.der)))
	return pool
}
