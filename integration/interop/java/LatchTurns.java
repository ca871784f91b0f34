import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;

/** Leads, and steps down. */
final class LatchTurns implements Contest.Turns {
    private final CuratorFramework client;
    private final String path;
    private final String who;

    LatchTurns(CuratorFramework client, String path, String who) {
        this.client = client;
        this.path = path;
        this.who = who;
    }

    @Override
    public void take(Ledger ledger) throws Exception {
        long asked = System.nanoTime();
        LeaderLatch latch = new LeaderLatch(client, path, who);
        latch.start();
        try {
            if (!latch.await(Ledger.waitLimit(), TimeUnit.MILLISECONDS)) {
                ledger.miss("timeout");
                return;
            }
            lead(ledger, latch, asked);
        } finally {
            latch.close();
        }
    }

    /** The latch may lose the leadership, and be about to make another node, at any moment. */
    private static void lead(Ledger ledger, LeaderLatch latch, long asked) throws Exception {
        String node = latch.getOurPath();
        if (node == null || !latch.hasLeadership()) {
            ledger.miss("void");
            return;
        }
        Ledger.Hold hold = ledger.begin("leader", asked, null, node);
        if (hold != null) {
            hold.linger(Ledger.span());
            hold.end();
        }
    }
}
