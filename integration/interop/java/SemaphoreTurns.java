import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** Takes some of a semaphore's permits at a time. */
final class SemaphoreTurns implements Contest.Turns {
    /**
     * How long, in milliseconds, to wait for several permits. Curator collects them one by one, and several collectors
     * can wait for each other until one times out.
     */
    private static final int LIMIT = 500;

    private final String path;
    private final int most;
    private final InterProcessSemaphoreV2 semaphore;
    private boolean modest; // after a timeout: only single permits are granted in the order of the queue

    SemaphoreTurns(CuratorFramework client, Interop.Arguments arguments) {
        path = arguments.path + "/leases/";
        most = arguments.number("most", 1);
        semaphore = new InterProcessSemaphoreV2(client, arguments.path, arguments.number("size", 1));
    }

    @Override
    public void take(Ledger ledger) throws Exception {
        int permits = modest ? 1 : ThreadLocalRandom.current().nextInt(most) + 1;
        long asked = System.nanoTime();
        long waitLimit = permits == 1 ? Ledger.waitLimit() : Math.min(Ledger.waitLimit(), LIMIT);
        Collection<Lease> leases = semaphore.acquire(permits, waitLimit, TimeUnit.MILLISECONDS);
        modest = leases == null;
        if (leases == null) {
            ledger.miss("timeout");
            return;
        }
        try {
            List<String> nodes = new ArrayList<>();
            for (Lease lease : leases) {
                nodes.add(path + lease.getNodeName());
            }
            Ledger.Hold hold = ledger.begin("semaphore", asked, null, nodes.toArray(new String[0]));
            if (hold != null) {
                hold.linger(Ledger.span());
                hold.end();
            }
        } finally {
            semaphore.returnAll(leases);
        }
    }
}
