import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** A LeaderSelector. Prints "leads" when it does, once, leads until it is told to end, and prints "closed". */
final class SelectorHolder {
    private final Interop.Arguments arguments;

    SelectorHolder(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run(CountDownLatch end) throws Exception {
        CuratorFramework client = Clients.connect(arguments);
        CountDownLatch returned = new CountDownLatch(1);
        LeaderSelector selector = new LeaderSelector(client, arguments.path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework leads) throws Exception {
                System.out.println("leads");
                end.await();
                returned.countDown();
            }
        });
        selector.start();
        returned.await();
        selector.close();
        client.close();
        System.out.println("closed");
    }
}
