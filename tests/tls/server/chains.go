package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
)

// chains: what the server sends beside its leaf.
func (m *matrix) chains() {
	root := m.root.pem()
	key := keyOf("rsa2048-issuing")
	issuing := issue("Corp Issuing", key, by(m.root), asCA)
	leaf := m.leafOf(issuing, local)
	m.add("chain: intermediate sent", root, leaf, issuing)
	m.add("chain: intermediate missing", root, leaf)
	m.add("chain: intermediate in the CA file, not sent", issuing.pem()+root, leaf)
	m.add("chain: intermediate alone trusted, not sent", issuing.pem(), leaf)
	m.add("chain: intermediate alone trusted, sent", issuing.pem(), leaf, issuing)
	m.add("chain: leaf, root, intermediate", root, leaf, m.root, issuing)
	m.add("chain: leaf last", root, issuing, leaf).key = m.leafKey
	m.add("chain: leaf twice", root, leaf, leaf, issuing)
	m.add("chain: with the root", root, leaf, issuing, m.root)
	m.add("chain: with an unrelated certificate", root, leaf, m.second, issuing)
	m.add("chain: cross-signed intermediate, the untrusted one first", root, leaf, issue("Corp Issuing", key, by(m.second), asCA), issuing)
	m.add("chain: cross-signed root, only the old root trusted", m.second.pem(), m.good, issue("Corp Root", m.root.key, by(m.second), asCA))
	twin := issue("Corp Root", m.second.key, asCA)
	m.add("chain: two CAs of one name", twin.pem()+root, m.good)
	m.add("chain: two CAs of one name, leaf without key identifiers", twin.pem()+root, issue("localhost", m.leafKey, by(m.root), withoutKeyIDs, with(local)))
	m.add("chain: expired intermediate, renewed one sent too", root, leaf, issue("Corp Issuing", key, by(m.root), asCA, expired), issuing)
	below := func(name string, options ...option) {
		issuer := issue("Issuing "+name, key, append([]option{by(m.root)}, options...)...)
		m.add("intermediate "+name, root, m.leafOf(issuer, local), issuer)
	}
	below("without keyUsage", with(isCA))
	below("without keyCertSign", with(isCA, signAndEncrypt))
	below("that is CA:FALSE", with(isNoCA))
	below("with EKU clientAuth only", asCA, with(usages(clientAuth)))
	below("with EKU any only", asCA, with(usages(anyUsage)))
	below("signed with SHA-1", asCA, signedAs(sha1RSA))
	// The leaf names the policy, too, or else no chain is valid.
	strict := issue("Issuing with critical policyConstraints", key, by(m.root), asCA, with(policies, noPolicyNeeded))
	m.add("intermediate with critical policyConstraints", root, m.leafOf(strict, local, policies), strict)
	below("with critical certificatePolicies", asCA, with(policies))
	below("with directoryName constraints", asCA, with(constraints([]rawName{directory()}, nil)))
	flat := issue("Flat Root", m.second.key, with(pathLength(0), certSign))
	underFlat := issue("Issuing under flat", key, by(flat), asCA)
	m.add("CA with pathlen 0 and an intermediate", flat.pem(), m.leafOf(underFlat, local), underFlat)
	last := issue("Issuing last", key, by(m.root), with(pathLength(0), certSign))
	tooDeep := issue("Issuing too deep", m.second.key, by(last), asCA)
	m.add("intermediate with pathlen 0 and another below", root, m.leafOf(tooDeep, local), tooDeep, last)
	for _, depth := range []int{6, 7, 9} {
		m.deep(depth)
	}
	for _, ballast := range []int{3, 6, 12, 31} {
		m.heavy(ballast, leaf, issuing)
	}
	m.spoilt("chain: second certificate is garbage", m.good.der, []byte("garbage"))
	m.spoilt("chain: second certificate is an empty sequence", m.good.der, []byte{0x30, 0})
	m.spoilt("chain: second certificate has trailing bytes", leaf.der, append(bytes.Clone(issuing.der), 1, 2, 3))
}

func (m *matrix) deep(depth int) {
	issuer, sent := m.root, []identity{}
	for level := range depth {
		issuer = issue(fmt.Sprintf("Level %d of %d", level, depth), keyOf(fmt.Sprintf("p256-level%d", level%2)), by(issuer), asCA)
		sent = append([]identity{issuer}, sent...)
	}
	m.add(fmt.Sprintf("chain: %d intermediates", depth), m.root.pem(), append([]identity{m.leafOf(issuer, local)}, sent...)...)
}

func (m *matrix) heavy(count int, leaf, issuing identity) {
	shown := []identity{leaf, issuing}
	for range count {
		shown = append(shown, issue("Ballast", m.second.key, asCA, with(private(2, make([]byte, 9000)))))
	}
	m.add(fmt.Sprintf("chain: about %d KB", 10*count), m.root.pem(), shown...)
}

// caFiles: how the file with the root is written.
func (m *matrix) caFiles() {
	text := m.root.pem()
	of := func(name, file string) { m.add("CA file: "+name, file, m.good) }
	lines := strings.Split(strings.TrimSpace(text), "\n")
	body := strings.Join(lines[1:len(lines)-1], "")
	begin, end := lines[0], lines[len(lines)-1]
	beside := func(name string, options ...option) {
		of("with "+name+" beside", issue(name, m.second.key, append([]option{asCA}, options...)...).pem()+text)
	}
	of("with comments", "# ours\nsubject=CN = Corp Root\n"+text+"\n# end\n")
	of("with a comment of dashes", "-----------\nCorp - Root -- CA\n-----------\n"+text)
	of("with CRLF", strings.ReplaceAll(text, "\n", "\r\n"))
	of("with CR only", strings.ReplaceAll(text, "\n", "\r"))
	of("with a byte order mark", "\xef\xbb\xbf"+text)
	of("without the last newline", strings.TrimSpace(text))
	of("indented", "    "+strings.Join(lines, "\n    ")+"\n")
	of("with spaces at the ends of lines", strings.ReplaceAll(text, "\n", "  \n"))
	of("with base64 in one line", begin+"\n"+body+"\n"+end+"\n")
	of("all in one line", begin+body+end+"\n")
	of("with empty lines in the block", strings.Replace(text, "\n", "\n\n", 4))
	of("with several certificates", m.second.pem()+text+m.good.pem())
	of("with END and BEGIN on one line", strings.TrimSpace(m.second.pem())+text)
	of("with the same certificate twice", text+text)
	block := func(content string) string { return begin + "\n" + content + end + "\n" }
	of("with a block that is no base64 before", block("!!!! not base64 !!!!\n")+text)
	of("with a block that is no certificate before", block("AAAA\n")+text)
	of("with a block that is no certificate after", text+block("AAAA\n"))
	of("with an empty block before", block("")+text)
	of("with a truncated block after", text+m.second.pem()[:200])
	of("TRUSTED CERTIFICATE only", strings.ReplaceAll(text, "CERTIFICATE", "TRUSTED CERTIFICATE"))
	of("TRUSTED CERTIFICATE, then a plain one", strings.ReplaceAll(m.second.pem(), "CERTIFICATE", "TRUSTED CERTIFICATE")+text)
	of("X509 CERTIFICATE only", strings.ReplaceAll(text, "CERTIFICATE", "X509 CERTIFICATE"))
	of("with PEM headers in the block", strings.Replace(text, "-----\n", "-----\nComment: corp\n\n", 1))
	of("with a private key", pkcs8(m.leafKey)+text)
	of("with a CRL", pemBlock("X509 CRL", []byte{0x30, 0})+text)
	beside("an expired CA", expired)
	beside("a CA of negative serial", serial(-9))
	beside("a CA with an unknown critical extension", with(unknown))
	beside("a CA with directoryName constraints", with(constraints([]rawName{directory()}, nil)))
	beside("a CA of a broken SAN", with(names(general(7, []byte{1, 2, 3}))))
	beside("a CA with a duplicate extension", with(local, local))
	of("with a leaf beside", m.good.pem()+text)
	decoded, _ := pem.Decode([]byte(text))
	of("in DER", string(decoded.Bytes))
	var wide strings.Builder
	for _, char := range "\ufeff" + text {
		wide.WriteString(string([]byte{byte(char), byte(char >> 8)}))
	}
	of("in UTF-16", wide.String())
	of("empty", "")
	if public, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt"); err == nil {
		of("with the public roots beside", string(public)+text)
	}
}
