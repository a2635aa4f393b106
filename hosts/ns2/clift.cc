// SPDX-License-Identifier: GPL-2.0-only
// Links of CLIFT scenario files in ns-2, loaded into the stock `ns` by Tcl's `load`.
//
// A link is two objects, so that traces and monitors of ns-2 see what they always see: Queue/Clift
// holds a packet until the link starts to send it, DelayLink/Clift until it arrives or is given up.
// What becomes of it the CLIFT library decides, at instants in whole nanoseconds.
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "delay.h"
#include "ip.h"
#include "queue.h"
#include "scheduler.h"
#include "tcp.h"

#include "clift.h"

namespace {

const char commands[] =
#include "clift.tcl.inc"
    ;

// The text of an error of the library, freed.
std::string taken(char* error)
{
	std::string text = error ? error : "unknown error";
	clift_string_free(error);
	return text;
}

unsigned long long number(std::uint64_t value) { return value; }

class CliftQueue;

class CliftDelay : public LinkDelay {
public:
	~CliftDelay()
	{
		clift_link_free(link_);
		if (log_ != nullptr) std::fclose(log_);
	}
	// A queue of ns-2 hands over a packet and waits until it is told to go on.
	void recv(Packet* p, Handler* h);
	void handle(Event*) { wake(armed_); }
	int command(int argc, const char* const* argv);
	// A packet arrives at the link's own queue; whether that took it.
	bool offer(Packet* p);
	// The packet that the own queue sends now.
	void leaves(std::uint64_t packet) { leaving_ = packet; }

private:
	static std::uint64_t nanoseconds(double seconds)
	{
		return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
	}
	int open(int argc, const char* const* argv);
	std::uint64_t place(Packet* p, bool flying);
	int enqueue(std::uint64_t packet, std::uint64_t now);
	void wake(std::uint64_t now);
	void work_off(std::uint64_t now);
	void happened(const clift_event& event);
	void arm(std::uint64_t next);
	void fail(const char* what);

	clift_link* link_ = nullptr;
	CliftQueue* queue_ = nullptr;
	Handler* blocked_ = nullptr;                          // of the ns-2 queue that waits
	// The library knows a packet by its place here; places are used again.
	struct Carried {
		Packet* packet;
		std::uint64_t number;                             // in the log
		bool flying;                                      // out of the queue
	};
	std::vector<Carried> carried_;
	std::vector<std::uint64_t> unused_;
	std::uint64_t next_packet_ = 0;
	std::uint64_t leaving_ = 0;
	std::vector<clift_event> spare_;                      // memory for events
	std::uint64_t armed_ = CLIFT_NEVER;                   // the instant of the timer
	Event timer_;
	std::unordered_map<std::uint64_t, std::uint32_t> flows_;
	bool streams_ = false;
	std::FILE* log_ = nullptr;                            // of arrivals and fates, in ns
	std::string name_;
};

// The queue of the link itself, as [link] of the scenario has it.
class CliftQueue : public Queue {
public:
	CliftQueue() { pq_ = &waiting_; }
	void enque(Packet* p) { waiting_.enque(p); }
	Packet* deque() { return waiting_.deque(); }
	void recv(Packet* p, Handler*)
	{
		if (link_->offer(p)) return;
		drop(p);
	}
	void departs(std::uint64_t packet, Packet* p)
	{
		if (waiting_.head() == p)
			waiting_.deque();
		else
			waiting_.remove(p);
		link_->leaves(packet);
		target_->recv(p, &qh_);
	}
	int command(int argc, const char* const* argv)
	{
		if (argc == 3 && !strcmp(argv[1], "attach-clift")) {
			link_ = static_cast<CliftDelay*>(TclObject::lookup(argv[2]));
			return link_ ? TCL_OK : TCL_ERROR;
		}
		return Queue::command(argc, argv);
	}

private:
	CliftDelay* link_ = nullptr;
	PacketQueue waiting_;
};

bool CliftDelay::offer(Packet* p)
{
	std::uint64_t now = nanoseconds(Scheduler::instance().clock());
	wake(now);
	std::uint64_t packet = place(p, false);
	int taken = enqueue(packet, now);
	if (taken != CLIFT_QUEUED) {
		unused_.push_back(packet);
		arm(clift_link_next(link_));
		return false;
	}
	queue_->enque(p);
	// What a link that has nothing else to send begins to send at once, as a queue of ns-2 hands it on.
	work_off(now);
	return true;
}

std::uint64_t CliftDelay::place(Packet* p, bool flying)
{
	Carried carried = {p, next_packet_++, flying};
	if (unused_.empty()) {
		carried_.push_back(carried);
		return carried_.size() - 1;
	}
	std::uint64_t packet = unused_.back();
	unused_.pop_back();
	carried_[packet] = carried;
	return packet;
}

void CliftDelay::recv(Packet* p, Handler* h)
{
	if (queue_ != nullptr) {
		carried_[leaving_] = {p, carried_[leaving_].number, true};
		return;
	}
	std::uint64_t now = nanoseconds(Scheduler::instance().clock());
	wake(now);
	std::uint64_t packet = place(p, true);
	if (enqueue(packet, now) == CLIFT_QUEUED) {
		blocked_ = h;
		arm(clift_link_next(link_));
		return;
	}
	unused_.push_back(packet);
	drop(p);
	Scheduler::instance().schedule(h, &intr_, 0);
}

// What of a stream a packet carries: ns-2's one-way TCP numbers segments, its two-way TCP bytes.
int CliftDelay::enqueue(std::uint64_t packet, std::uint64_t now)
{
	Packet* p = carried_[packet].packet;
	hdr_cmn* common = hdr_cmn::access(p);
	std::uint32_t size = static_cast<std::uint32_t>(common->size());
	std::uint64_t flow = 0, first = 0, length = 0;
	if (streams_ || log_ != nullptr) {
		hdr_ip* ip = hdr_ip::access(p);
		std::uint64_t from = static_cast<std::uint64_t>(ip->saddr()) << 32 | static_cast<std::uint32_t>(ip->sport());
		std::uint64_t to = static_cast<std::uint64_t>(ip->daddr()) << 32 | static_cast<std::uint32_t>(ip->dport());
		std::uint64_t key = from * 0x9e3779b97f4a7c15u ^ to;
		flow = flows_.emplace(key, flows_.size()).first->second;
		if (common->ptype() == PT_TCP) {
			hdr_tcp* tcp = hdr_tcp::access(p);
			int header = tcp->hlen();
			first = static_cast<std::uint64_t>(tcp->seqno() < 0 ? 0 : tcp->seqno());
			length = header > 0 ? (common->size() > header ? common->size() - header : 0) : 1;
		}
	}
	int taken = clift_link_enqueue_in(link_, now, packet, size, flow, first, first + length);
	if (taken == CLIFT_WRONG) fail("enqueue");
	if (log_ != nullptr)
		std::fprintf(log_, "arrival %llu %llu %u %d %llu %llu %llu\n", number(carried_[packet].number), number(now), size, taken,
		             number(flow), number(first), number(first + length));
	return taken;
}

// Works off what is due, then sets the timer. What happens meanwhile may come back into this link.
void CliftDelay::wake(std::uint64_t now)
{
	if (now >= armed_ || timer_.uid_ <= 0) work_off(now);
}

void CliftDelay::work_off(std::uint64_t now)
{
	std::vector<clift_event> events;
	events.swap(spare_);
	std::uint64_t next;
	// To ask when the next thing happens costs less than to poll in vain. Events are written where they are
	// read later: to copy what was just written stalls the processor.
	while ((next = clift_link_next(link_)) <= now) {
		events.emplace_back();
		int polled = clift_link_poll(link_, now, &events.back());
		if (polled == CLIFT_WRONG) fail("poll");
		if (polled != 1) events.pop_back();
	}
	arm(next);
	for (const clift_event& each : events) happened(each);
	events.clear();
	spare_.swap(events);
}

void CliftDelay::happened(const clift_event& event)
{
	static const char* const kinds[] = {"delivered", "lost", "departed", "ended"};
	if (log_ != nullptr)
		std::fprintf(log_, "%s %llu %llu\n", kinds[event.kind], number(carried_[event.packet].number),
		             number(event.at_ns));
	if (event.kind == CLIFT_DEPARTED) {
		if (queue_ != nullptr) {
			queue_->departs(event.packet, carried_[event.packet].packet);
		} else if (Handler* waits = blocked_) {
			blocked_ = nullptr;
			waits->handle(&intr_);
		}
		return;
	}
	if (event.kind == CLIFT_TRACE_ENDED) {
		std::fprintf(stderr, "clift: %s: the trace ends at %.9f s while packets wait; nothing behind it gets further\n",
		             name_.c_str(), static_cast<double>(event.at_ns) / 1e9);
		return;
	}
	Carried gone = carried_[event.packet];
	unused_.push_back(event.packet);
	// Something of ns-2's between the queue and here may have kept it.
	if (!gone.flying) return;
	Packet* p = gone.packet;
	if (event.kind == CLIFT_DELIVERED)
		send(p, nullptr);
	else
		drop(p);
}

// The scheduler adds a delay to its clock; the sum must be the very instant, for of equal instants
// the order counts.
void CliftDelay::arm(std::uint64_t next)
{
	Scheduler& scheduler = Scheduler::instance();
	// A timer that rings too early does no harm, and costs less than one that is moved.
	if (timer_.uid_ > 0 && armed_ <= next) return;
	if (timer_.uid_ > 0) scheduler.cancel(&timer_);
	armed_ = next;
	if (next == CLIFT_NEVER) return;
	double clock = scheduler.clock(), at = static_cast<double>(next) / 1e9;
	double delay = at > clock ? at - clock : 0;
	while (clock + delay < at) delay = std::nextafter(delay, INFINITY);
	while (delay > 0 && clock + delay > at) delay = std::nextafter(delay, 0);
	scheduler.schedule(this, &timer_, delay);
}

void CliftDelay::fail(const char* what)
{
	const char* why = clift_link_error(link_);
	std::fprintf(stderr, "clift: %s: %s: %s\n", name_.c_str(), what, why ? why : "unknown error");
	std::exit(2);
}

// open FILE SEED DIRECTION HOP KEY VALUE ...: SEED "" for the file's own; DIRECTION there, back, or
// reverse (the way there as way back, with draws of its own); HOP "" for the whole way.
int CliftDelay::open(int argc, const char* const* argv)
{
	Tcl& tcl = Tcl::instance();
	char* error = nullptr;
	clift_scenario* scenario = clift_scenario_open(argv[2], &error);
	for (int i = 6; scenario != nullptr && i + 1 < argc; i += 2) {
		if (clift_scenario_set(scenario, argv[i], argv[i + 1], &error) == 0) continue;
		clift_scenario_free(scenario);
		scenario = nullptr;
	}
	if (scenario != nullptr) {
		std::uint64_t seed = std::strtoull(argv[3], nullptr, 10);
		const std::uint64_t* given = *argv[3] ? &seed : nullptr;
		std::uint32_t direction = !strcmp(argv[4], "back")      ? CLIFT_BACKWARD
		                          : !strcmp(argv[4], "reverse") ? CLIFT_REVERSE
		                                                        : CLIFT_FORWARD;
		link_ = *argv[5] ? clift_scenario_link(scenario, given, direction, std::atoi(argv[5]), &error)
		                 : clift_scenario_way(scenario, given, direction, &error);
		clift_scenario_free(scenario);
	}
	if (link_ == nullptr) {
		tcl.resultf("%s", taken(error).c_str());
		return TCL_ERROR;
	}
	name_ = argv[2];
	streams_ = clift_link_reads_streams(link_) == 1;
	return TCL_OK;
}

int CliftDelay::command(int argc, const char* const* argv)
{
	Tcl& tcl = Tcl::instance();
	if (argc >= 6 && !strcmp(argv[1], "open")) return open(argc, argv);
	if (argc == 3 && !strcmp(argv[1], "own-queue")) {
		queue_ = dynamic_cast<CliftQueue*>(TclObject::lookup(argv[2]));
		return queue_ ? TCL_OK : TCL_ERROR;
	}
	if (argc == 3 && !strcmp(argv[1], "log")) {
		log_ = std::fopen(argv[2], "w");
		if (log_ != nullptr) return TCL_OK;
		tcl.resultf("clift: %s: %s", argv[2], std::strerror(errno));
		return TCL_ERROR;
	}
	if (argc == 2 && !strcmp(argv[1], "flush")) {
		if (log_ != nullptr) std::fflush(log_);
		return TCL_OK;
	}
	if (argc == 2 && !strcmp(argv[1], "report")) {
		char* report = clift_link_report(link_, nanoseconds(Scheduler::instance().clock()));
		tcl.resultf("%s", report ? report : "");
		clift_string_free(report);
		return TCL_OK;
	}
	return LinkDelay::command(argc, argv);
}

struct DelayClass : TclClass {
	DelayClass() : TclClass("DelayLink/Clift") {}
	TclObject* create(int, const char* const*) { return new CliftDelay; }
	void make() { bind(); }
};

struct QueueClass : TclClass {
	QueueClass() : TclClass("Queue/Clift") {}
	TclObject* create(int, const char* const*) { return new CliftQueue; }
	void make() { bind(); }
};

}  // namespace

// Tcl derives this name from that of the file.
extern "C" __attribute__((visibility("default"))) int Clift_Init(Tcl_Interp* interpreter)
{
	if (clift_abi() != CLIFT_ABI) {
		Tcl_SetResult(interpreter, const_cast<char*>("clift.so was built with another version of CLIFT; run `make ns2`"), TCL_STATIC);
		return TCL_ERROR;
	}
	(new DelayClass)->make();
	(new QueueClass)->make();
	return Tcl_Eval(interpreter, commands);
}
