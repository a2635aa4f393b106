// PER of a turbo code over the Gaussian channel: how core/src/channel/lms/data/turbo_*.csv came about.
//
// Two recursive constituent codes 13/15 (octal), those of 3GPP (TS 25.212) and 3GPP2 (C.S0002);
// QPSK, exact LLRs, log-MAP, 8 iterations at most. Interleaver: that of TS 25.212 up to
// 5114 bits, a random permutation above. Rate 1/3, or 2/3 by keeping every fourth parity bit.
//
//   apt-get install libitpp-dev
//   g++ -O3 turbo_awgn.cc -o turbo_awgn $(itpp-config --cflags --libs)
//   ./turbo_awgn BITS RATE FROM TO STEP ERRORS BLOCKS SEED      # Es/N0 in dB; stops at ERRORS or BLOCKS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <itpp/itcomm.h>

using namespace itpp;

static ivec interleaver(int bits) {
  if (bits <= 5114) return wcdma_turbo_interleaver_sequence(bits);
  return sort_index(randu(bits));
}

// IT++'s log-MAP by table keeps integer metrics that fail for long blocks: those take max-log-MAP
// with extrinsic values scaled by 0.7, about 0.1 dB worse.
static std::string metric(int bits) { return bits > 1000 ? "LOGMAX" : "TABLE"; }
static double scale(int bits) { return bits > 1000 ? 0.7 : 1.0; }

// Sends blocks until enough are wrong and prints a line of the table.
template <class Codec> static void measure(Codec &codec, int bits, double db, int errors, int blocks) {
  const double n0 = 1.0 / inv_dB(db);  // symbols of unit energy
  QPSK qpsk;
  AWGN_Channel awgn(n0);
  codec.set_awgn_channel_parameters(1.0, n0);
  int sent = 0, wrong = 0;
  for (; sent < blocks && wrong < errors; ++sent) {
    const bvec data = randb(bits);
    bvec coded;
    codec.encode(data, coded);
    const int length = coded.length();
    if (length % 2) coded.ins(length, bin(0));
    const vec llr = qpsk.demodulate_soft_bits(awgn(qpsk.modulate_bits(coded)), n0).left(length);
    bvec decoded;
    // The codec takes antipodal samples, from which it makes LLRs 4 sqrt(Ec) / N0 x.
    codec.decode(llr * (n0 / 4.0), decoded);
    wrong += decoded.left(bits) != data;
  }
  printf("%.3f,%d,%d\n", db, sent, wrong);
  fflush(stdout);
}

int main(int count, char **words) {
  if (count != 9) return fprintf(stderr, "see the head of the source\n"), 2;
  const int bits = atoi(words[1]), errors = atoi(words[6]), blocks = atoi(words[7]);
  RNG_reset(atoi(words[8]));
  const ivec generators = "013 015";
  printf("esn0_db,blocks,errors\n");
  for (double db = atof(words[3]); db <= atof(words[4]) + 1e-9; db += atof(words[5])) {
    if (!strcmp(words[2], "2/3")) {
      Punctured_Turbo_Codec codec;
      bmat kept = "1 1 1 1; 1 0 0 0; 0 0 1 0";
      codec.set_parameters(generators, generators, 4, interleaver(bits), kept, 8, metric(bits), scale(bits), true);
      measure(codec, bits, db, errors, blocks);
    } else {
      Turbo_Codec codec;
      codec.set_parameters(generators, generators, 4, interleaver(bits), 8, metric(bits), scale(bits), true);
      measure(codec, bits, db, errors, blocks);
    }
  }
}
