package main

// Certificates encoded field by field: crypto/x509 refuses to make the wrong ones that this program is about.

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"math/bits"
	"net"
	"time"

	_ "crypto/md5"
	_ "crypto/sha256"
	_ "crypto/sha512"
)

const day = 24 * time.Hour

// identity is a certificate with its private key.
type identity struct {
	key     crypto.Signer
	subject []byte
	der     []byte
}

func (i identity) pem() string { return pemBlock("CERTIFICATE", i.der) }

func pemBlock(label string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}))
}

// signature is an algorithm with which a certificate can be signed.
type signature struct {
	oid  asn1.ObjectIdentifier
	hash crypto.Hash
	pss  bool
}

var (
	md5RSA      = signature{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 4}, crypto.MD5, false}
	sha1RSA     = signature{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 5}, crypto.SHA1, false}
	sha256RSA   = signature{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}, crypto.SHA256, false}
	sha384RSA   = signature{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}, crypto.SHA384, false}
	sha512RSA   = signature{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}, crypto.SHA512, false}
	pssRSA      = signature{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}, crypto.SHA256, true}
	sha1ECDSA   = signature{asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 1}, crypto.SHA1, false}
	sha256ECDSA = signature{asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}, crypto.SHA256, false}
	sha384ECDSA = signature{asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}, crypto.SHA384, false}
	sha512ECDSA = signature{asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}, crypto.SHA512, false}
	pureEd25519 = signature{oid: asn1.ObjectIdentifier{1, 3, 101, 112}}
)

func usualSignature(key crypto.Signer) signature {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return sha256RSA
	case *ecdsa.PrivateKey:
		return map[int]signature{384: sha384ECDSA, 521: sha512ECDSA}[key.Curve.Params().BitSize].or(sha256ECDSA)
	}
	return pureEd25519
}

func (s signature) or(other signature) signature {
	if s.oid == nil {
		return other
	}
	return s
}

// pssParameters: SHA-256, MGF1 with SHA-256, a salt of 32 bytes.
type pssParameters struct {
	Hash pkix.AlgorithmIdentifier `asn1:"explicit,tag:0"`
	MGF  struct {
		Algorithm asn1.ObjectIdentifier
		Hash      pkix.AlgorithmIdentifier
	} `asn1:"explicit,tag:1"`
	Salt int `asn1:"explicit,tag:2"`
}

func (s signature) identifier() pkix.AlgorithmIdentifier {
	id := pkix.AlgorithmIdentifier{Algorithm: s.oid}
	if s.pss {
		parameters := pssParameters{Salt: 32}
		parameters.Hash = pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}, Parameters: asn1.NullRawValue}
		parameters.MGF.Algorithm = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}
		parameters.MGF.Hash = parameters.Hash
		id.Parameters = asn1.RawValue{FullBytes: encode(parameters)}
	} else if s.oid[1] == 2 && s.oid[3] == 113549 {
		id.Parameters = asn1.NullRawValue
	}
	return id
}

func (s signature) sign(key crypto.Signer, message []byte) []byte {
	if s.hash == 0 {
		return must(key.Sign(rand.Reader, message, crypto.Hash(0)))
	}
	hash := s.hash.New()
	hash.Write(message)
	var options crypto.SignerOpts = s.hash
	if s.pss {
		options = &rsa.PSSOptions{SaltLength: 32, Hash: s.hash}
	}
	return must(key.Sign(rand.Reader, hash.Sum(nil), options))
}

// template is what issue makes a certificate of.
type template struct {
	version    int
	serial     *big.Int
	subject    pkix.Name
	from, to   time.Time
	extensions []pkix.Extension
	issuer     *identity
	signature  signature
	signer     crypto.Signer
	keyIDs     bool
}

type option func(*template)

func by(issuer identity) option  { return func(t *template) { t.issuer = &issuer } }
func version1(t *template)       { t.version = 0 }
func withoutSubject(t *template) { t.subject = pkix.Name{} }
func withoutKeyIDs(t *template)  { t.keyIDs = false }
func serial(n int64) option      { return func(t *template) { t.serial = big.NewInt(n) } }
func longSerial(first int64, bits uint) option {
	return func(t *template) { t.serial = new(big.Int).Lsh(big.NewInt(first), bits) }
}
func signedAs(s signature) option       { return func(t *template) { t.signature = s } }
func signedBy(key crypto.Signer) option { return func(t *template) { t.signer = key } }
func valid(from, to time.Duration) option {
	return func(t *template) { t.from, t.to = time.Now().Add(from), time.Now().Add(to) }
}
func with(extensions ...pkix.Extension) option {
	return func(t *template) { t.extensions = append(t.extensions, extensions...) }
}

var expired = valid(-10*day, -day)
var lastSerial int64

// issue makes a certificate, self-signed unless an option says otherwise. It is valid since two days and for a year.
func issue(commonName string, key crypto.Signer, options ...option) identity {
	lastSerial++
	t := template{version: 2, serial: big.NewInt(4096 + lastSerial), keyIDs: true,
		subject: pkix.Name{CommonName: commonName, Organization: []string{"archway test"}},
		from:    time.Now().Add(-2 * day), to: time.Now().Add(365 * day)}
	for _, apply := range options {
		apply(&t)
	}
	subject := encode(t.subject.ToRDNSequence())
	issuerName, issuerKey := subject, key
	if t.issuer != nil {
		issuerName, issuerKey = t.issuer.subject, t.issuer.key
	}
	if t.signer != nil {
		issuerKey = t.signer
	}
	extensions := t.extensions
	if t.keyIDs {
		extensions = append(extensions, extension(14, encode(keyID(key))), extension(35, encode(struct {
			ID []byte `asn1:"tag:0"`
		}{keyID(issuerKey)})))
	}
	if t.version == 0 {
		extensions = nil
	}
	algorithm := t.signature.or(usualSignature(issuerKey))
	body := encode(struct {
		Version    int `asn1:"optional,explicit,default:0,tag:0"`
		Serial     *big.Int
		Algorithm  pkix.AlgorithmIdentifier
		Issuer     asn1.RawValue
		Validity   struct{ From, To time.Time }
		Subject    asn1.RawValue
		Key        asn1.RawValue
		Extensions []pkix.Extension `asn1:"omitempty,optional,explicit,tag:3"`
	}{t.version, t.serial, algorithm.identifier(), raw(issuerName),
		struct{ From, To time.Time }{t.from.UTC().Truncate(time.Second), t.to.UTC().Truncate(time.Second)},
		raw(subject), raw(must(x509.MarshalPKIXPublicKey(key.Public()))), extensions})
	signed := algorithm.sign(issuerKey, body)
	return identity{key, subject, encode(struct {
		Body      asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}{raw(body), algorithm.identifier(), asn1.BitString{Bytes: signed, BitLength: 8 * len(signed)}})}
}

func keyID(key crypto.Signer) []byte {
	sum := sha1.Sum(must(x509.MarshalPKIXPublicKey(key.Public())))
	return sum[:]
}

func extension(arc int, value []byte) pkix.Extension {
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, arc}, Value: value}
}

func private(arc int, value []byte) pkix.Extension {
	return pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 55555, arc}, Value: value}
}

func critical(e pkix.Extension) pkix.Extension {
	e.Critical = true
	return e
}

func basicConstraints(isCA bool) pkix.Extension {
	return critical(extension(19, encode(struct {
		IsCA bool `asn1:"optional"`
	}{isCA})))
}

func pathLength(n int) pkix.Extension {
	return critical(extension(19, encode(struct {
		IsCA bool
		Path int
	}{true, n})))
}

func keyUsage(value byte) pkix.Extension {
	return critical(extension(15, encode(asn1.BitString{Bytes: []byte{value}, BitLength: 8 - bits.TrailingZeros8(value)})))
}

var (
	isCA           = basicConstraints(true)
	isNoCA         = basicConstraints(false)
	certSign       = keyUsage(0x06)
	signAndEncrypt = keyUsage(0xa0)
	serverAuth     = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 1}
	clientAuth     = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 2}
	anyUsage       = asn1.ObjectIdentifier{2, 5, 29, 37, 0}
	unknown        = critical(private(1, []byte{5, 0}))
	policies       = critical(extension(32, encode([]struct{ ID asn1.ObjectIdentifier }{{asn1.ObjectIdentifier{2, 5, 29, 32, 0}}})))
	noPolicyNeeded = critical(extension(36, []byte{0x30, 3, 0x80, 1, 0}))
	noAnyPolicy    = critical(extension(54, []byte{2, 1, 0}))
	asCA           = with(isCA, certSign)
	local          = names(dns("localhost"))
)

func usages(ids ...asn1.ObjectIdentifier) pkix.Extension { return extension(37, encode(ids)) }

// names is a subjectAltName.
func names(list ...asn1.RawValue) pkix.Extension { return extension(17, encode(list)) }

func general(tag int, value []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: value}
}

func dns(name string) asn1.RawValue { return general(2, []byte(name)) }
func uri(text string) asn1.RawValue { return general(6, []byte(text)) }
func ip(text string) asn1.RawValue  { return general(7, net.ParseIP(text).To4()) }

// directory is an empty directoryName.
func directory() asn1.RawValue {
	value := general(4, []byte{0x30, 0})
	value.IsCompound = true
	return value
}

// constraints are nameConstraints: names that a CA may certify, and names that it may not.
func constraints(permitted, excluded []asn1.RawValue) pkix.Extension {
	var value []byte
	for tag, list := range [][]asn1.RawValue{permitted, excluded} {
		var trees []byte
		for _, base := range list {
			trees = append(trees, encode(struct{ Base asn1.RawValue }{base})...)
		}
		if len(list) > 0 {
			value = append(value, encode(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: true, Bytes: trees})...)
		}
	}
	return critical(extension(30, encode(asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: value})))
}

func raw(der []byte) asn1.RawValue { return asn1.RawValue{FullBytes: der} }
func encode(value any) []byte      { return must(asn1.Marshal(value)) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
