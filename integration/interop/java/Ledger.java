import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * * Writes, as a line of JSON each, when one contender begins and ends to hold something. All times are readings of
 * the machine's monotonic clock.
 *
 * <p>Curator does not tell a holder that its session is over. A hold therefore counts only for as long as it is sure:
 * the nodes were seen, with our session as their owner, by a request that was sent after the hold had begun, and the
 * server keeps a session for its timeout after each request.
 */
final class Ledger {
    private static final AtomicInteger HOLDS = new AtomicInteger();

    private final CuratorFramework client;
    private final String who;

    Ledger(CuratorFramework client, String who) {
        this.client = client;
        this.who = who;
    }

    /** One hold. */
    final class Hold {
        private final int id = HOLDS.incrementAndGet();
        private long token;
        private long trust;

        /** Waits for that long. */
        void linger(long micros) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(micros));
        }

        /** Writes that the hold ends; to be called before the release. */
        void end() {
            long now = System.nanoTime();
            write("\"Event\":\"end\",\"Hold\":%d,\"At\":%d,\"Lost\":%b", id, Math.min(now, trust), now - trust > 0);
        }
    }

    /**
     * * Writes that a hold has begun that was requested at that time.
     *
     * @param under the hold of which this is a downgrade, with the same token; or null
     * @return null if one of the nodes ended with its session before the hold was certain
     */
    Hold begin(String kind, long asked, Hold under, String... nodes) throws Exception {
        return begin(kind, List.of(), asked, under, List.of(nodes));
    }

    /** As begin, for something on several locks, each with one node; or on one of them. */
    Hold beginOf(String kind, List<String> locks, long asked, List<String> nodes) throws Exception {
        return begin(kind, locks, asked, null, nodes);
    }

    private Hold begin(String kind, List<String> locks, long asked, Hold under, List<String> nodes) throws Exception {
        Hold hold = new Hold();
        List<Long> tokens = new ArrayList<>();
        long from = System.nanoTime();
        ZooKeeper session = client.getZookeeperClient().getZooKeeper();
        for (String node : nodes) {
            Stat stat = client.checkExists().forPath(node);
            if (stat == null || stat.getEphemeralOwner() != session.getSessionId()) {
                miss("void");
                return null;
            }
            hold.token = Math.max(hold.token, stat.getCzxid());
            tokens.add(stat.getCzxid());
        }
        if (under != null) {
            hold.token = under.token;
        }
        hold.trust = from + TimeUnit.MILLISECONDS.toNanos(session.getSessionTimeout());
        write(
                "\"Event\":\"begin\",\"Hold\":%d,\"Kind\":\"%s\",\"Under\":%d,\"Permits\":%d,\"Node\":\"%s\","
                        + "\"Token\":%d,\"Locks\":[%s],\"Tokens\":%s,\"Asked\":%d,\"At\":%d,\"Trust\":%d",
                hold.id,
                kind,
                under == null ? 0 : under.id,
                nodes.size(),
                nodes.get(0),
                hold.token,
                quoted(locks),
                tokens,
                asked,
                from,
                hold.trust);
        return hold;
    }

    /** Writes why nothing was held. */
    void miss(String why) {
        write("\"Event\":\"miss\",\"Why\":\"%s\"", why);
    }

    private static String quoted(List<String> all) {
        return all.isEmpty() ? "" : "\"" + String.join("\",\"", all) + "\"";
    }

    private void write(String form, Object... values) {
        String line = String.format("{\"Who\":\"" + who + "\"," + form + "}\n", values);
        System.out.print(line); // with one write, so that a kill leaves no part of a line
    }

    /** Returns how long to hold something: some milliseconds, and sometimes far longer. */
    static long span() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return random.nextInt(25) == 0 ? random.nextLong(100_000, 400_000) : random.nextLong(1_000, 15_000);
    }

    /** Returns how many milliseconds to wait: mostly long enough, sometimes a very short time. */
    static long waitLimit() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return random.nextInt(12) == 0
                ? random.nextLong(30)
                : TimeUnit.SECONDS.toMillis(Clients.LIMIT_SECONDS);
    }
}
