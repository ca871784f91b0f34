import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;

/**
 * A candidate "java" and the number {@code id}. Prints "leads" each time it is notified to lead, and "closed" when it was
 * told to end.
 */
final class LatchHolder {
    private final Interop.Arguments arguments;

    LatchHolder(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run(CountDownLatch end) throws Exception {
        CuratorFramework client = Clients.connect(arguments);
        LeaderLatch latch = new LeaderLatch(client, arguments.path, "java" + arguments.number("id", 1));
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                System.out.println("leads");
            }

            @Override
            public void notLeader() {
                System.out.println("leads no more");
            }
        });
        latch.start();
        end.await();
        latch.close();
        client.close();
        System.out.println("closed");
    }
}
